"""The errors a caller can mend: each is one sentence with a place, a value and a way out."""


class BestofnError(Exception):
    """Anything wrong with what the caller gave. The command line prints it and exits with 2."""


class UsageError(BestofnError):
    """An option, a name or a combination of them that cannot be carried out."""


class PoolError(BestofnError):
    """A pool that cannot be found, or holds nothing that can be ranked."""


class FormatError(BestofnError):
    """A file that was found but cannot be read as recorded trajectories."""


class ContentError(BestofnError):
    """A feature bank, criteria file, taxonomy or selector that does not hold to its schema."""


class TableError(BestofnError):
    """A feature table that lacks a column, or holds what its schema does not allow."""


class ModelError(BestofnError):
    """A model server, an answer cache or a file of recorded answers that cannot be used as asked."""
