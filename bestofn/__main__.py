"""`python -m bestofn` is the command `bestofn`."""

from bestofn.cli import main

if __name__ == "__main__":
    main()
