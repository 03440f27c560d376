"""Reads recorded runs of any known format. One module a format; `registry` lists them and tells them apart."""
