"""The server of the page without a browser: which requests it answers, and what it serves."""

import pytest
from yarl import URL

from page_support import asynchronous, serving


@asynchronous
async def test_the_page_and_its_files_are_served_with_a_strict_policy():
    async with serving() as (server, client):
        for path, kind in [
            ("/", "text/html"),
            ("/static/main.js", "text/javascript"),
            ("/static/style.css", "text/css"),
            ("/static/stage.css", "text/css"),
            ("/static/icon.svg", "image/svg+xml"),
        ]:
            async with client.get(server.address + path) as response:
                assert response.status == 200
                assert response.content_type == kind
                assert "default-src 'none'" in response.headers["Content-Security-Policy"]
                assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py",
        "/static/..%2fserver.py",
        "/static/%2e%2e/server.py",
        "/static/%2e%2e%2f%2e%2e%2f__init__.py",
        "/static/..%5cserver.py",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/static/main.js%00.png",
        "/static/",
        "/session/../../etc/passwd",
        "/session/x/..%2f..%2fetc%2fpasswd.png",
        "/session//labels.png",
        "/server.py",
    ],
)
@asynchronous
async def test_no_path_leads_to_a_file(path):
    async with serving() as (server, client):
        async with client.get(URL(server.address + path, encoded=True)) as response:
            assert response.status in (400, 404)
            assert "import" not in await response.text()
        url = URL(f"{server.address}{path}", encoded=True)
        async with client.post(url, data=b"x") as response:
            assert response.status in (400, 404, 405)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "attacker.example"},
        {"Host": "127.0.0.1.attacker.example"},
        {"Host": "[::1"},
        {"Origin": "http://attacker.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
    ],
)
@asynchronous
async def test_other_pages_are_not_answered(headers):
    async with serving() as (server, client):
        for path in ("/", "/live"):
            async with client.get(server.address + path, headers=headers) as response:
                assert response.status == 403
        assert len(server.sessions) == 0
