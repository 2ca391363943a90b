"""``graphtv app``: start and end of the command."""

import builtins
import signal
import socket
import subprocess
import sys
from urllib.request import ProxyHandler, build_opener

import pytest

from graphtv.cli import main


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are not sent there")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_told_to_end(number):
    command = [sys.executable, "-m", "graphtv", "app", "--no-browser", "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            address = server.stdout.readline().split()[3]
            assert address.startswith("http://127.0.0.1:")
            with build_opener(ProxyHandler({})).open(address, timeout=20) as answer:
                assert b"<title>graphtv:" in answer.read()
            server.send_signal(number)
            assert server.wait(20) == 0
        finally:
            server.kill()
        assert server.stderr.read() == ""


def test_a_port_in_use_is_told(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["app", "--no-browser", "--port", str(port)]) == 2
    assert f"cannot listen at 127.0.0.1:{port}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--port", "70000"),
        ("--pixels", "0"),
        ("--memory", "0"),
        ("--upload", "-1"),
        ("--sessions", "x"),
    ],
)
def test_wrong_options_are_told(option, value, capsys):
    with pytest.raises(SystemExit) as error:
        main(["app", option, value])
    assert error.value.code == 2
    assert option in capsys.readouterr().err


def test_without_aiohttp_the_extra_is_named(monkeypatch, capsys):
    imported = builtins.__import__

    def without(name, *rest):
        if name.split(".")[0] == "aiohttp":
            raise ImportError("No module named 'aiohttp'", name="aiohttp")
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert main(["app", "--no-browser"]) == 2
    assert 'pip install "graphtv[app]"' in capsys.readouterr().err
