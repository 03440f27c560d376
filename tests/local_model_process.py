"""Serves a model file over the OpenAI protocol until its standard input closes.

Run by the Python of the environment that `local_model.py` sets up, never by that of the tests: it needs nothing of
ours, and the tests need nothing of its packages.
"""

from __future__ import annotations

import argparse
import os
import runpy
import sys
import threading


def main() -> None:
    """Read what to serve, and serve it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("engine")
    parser.add_argument("--model", required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--port", required=True)
    parser.add_argument("--context", required=True)
    parser.add_argument("--threads", required=True)
    given = parser.parse_args()
    threading.Thread(target=end_with_parent, daemon=True).start()
    {"xllamacpp": serve_xllamacpp, "llama-cpp-python": serve_llama_cpp_python}[given.engine](given)


def end_with_parent() -> None:
    """End this process when the one that started it has gone: the other end of the pipe closes with it."""
    sys.stdin.buffer.read()
    os._exit(0)


def serve_xllamacpp(given: argparse.Namespace) -> None:
    """llama.cpp's own server, from a wheel."""
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = given.model
    settings.model_alias = {given.name}
    settings.hostnames = ["127.0.0.1"]
    settings.port = int(given.port)
    settings.n_ctx = int(given.context)
    settings.n_parallel = 1  # further requests wait their turn, so that each finds the prefix of the one before
    settings.cpuparams.n_threads = int(given.threads)
    settings.cpuparams_batch.n_threads = int(given.threads)
    server = xllamacpp.Server(settings)
    print(f"listening on {server.listening_address}", flush=True)  # noqa: T201 - goes into the log
    threading.Event().wait()


def serve_llama_cpp_python(given: argparse.Namespace) -> None:
    """The server of llama-cpp-python, compiled on this machine."""
    options = {
        "model": given.model,
        "model_alias": given.name,
        "host": "127.0.0.1",
        "port": given.port,
        "n_ctx": given.context,
        "n_threads": given.threads,
        "n_threads_batch": given.threads,
        "logits_all": "true",  # without it every log-probability is refused
    }
    sys.argv = ["llama_cpp.server", *(word for name, value in options.items() for word in (f"--{name}", value))]
    runpy.run_module("llama_cpp.server", run_name="__main__")


if __name__ == "__main__":
    main()
