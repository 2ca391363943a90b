"""Many sessions at once: isolation between them, and the end of a session."""

import asyncio

import numpy as np

from graphtv.app.limits import Limits
from page_support import (
    TRUTH,
    asynchronous,
    encoded,
    eventually,
    halves,
    paint_halves,
    serving,
)
from tab import Tab


@asynchronous
async def test_users_at_once_see_their_own_image_only():
    async def use(server, client, number):
        rng = np.random.default_rng(number)
        column = 15 + 5 * number
        colours = rng.integers(0, 90, 3), rng.integers(160, 255, 3)
        truth = np.where(np.arange(60) < column, 1, 2) * np.ones((40, 1), dtype=int)
        async with Tab(client, server.address) as tab:
            await tab.upload(encoded(halves(60, 40, *colours, column, number)))
            for _ in range(3):
                await tab.paint(1, (3, 5), (3, 35))
                await tab.paint(2, (56, 5), (56, 35))
                done = await tab.hear_done("labels")
                np.testing.assert_array_equal(done["pixels"], truth)
                await tab.say("clear")
                await tab.hear("waiting")
            assert not [each for each in tab.heard if each["type"] == "error"]
            return tab.token

    async with serving() as (server, client):
        tokens = await asyncio.gather(*(use(server, client, k) for k in range(6)))
        assert len(set(tokens)) == 6


@asynchronous
async def test_a_token_must_be_right():
    async with serving() as (server, client):
        for token in ("x", "ü", "x" * 4000, "%00"):
            async with client.get(f"{server.address}/session/{token}/image.png") as response:
                assert response.status in (400, 404)
            url = f"{server.address}/session/{token}/image"
            headers = {"Content-Type": "image/png"}
            async with client.post(url, data=encoded(halves()), headers=headers) as response:
                assert response.status in (400, 404)


@asynchronous
async def test_when_all_places_are_taken_others_are_told():
    async with serving(Limits(sessions=2)) as (server, client):
        async with Tab(client, server.address) as first, Tab(client, server.address):
            async with Tab(client, server.address) as third:
                assert third.hello["type"] == "full"
            assert first.hello["type"] == "hello"
        await eventually(lambda: not server.sessions.find(first.token).is_connected)
        async with Tab(client, server.address) as fourth:  # a closed tab frees its place
            assert fourth.hello["type"] == "hello"


@asynchronous
async def test_a_tab_comes_back_to_its_session():
    async with serving() as (server, client):
        async with Tab(client, server.address) as tab:
            await tab.upload(encoded(halves()))
            await paint_halves(tab)
        await eventually(lambda: not server.sessions.find(tab.token).is_connected)
        async with Tab(client, server.address, tab.token) as again:
            assert again.hello["back"]
            np.testing.assert_array_equal((await again.hear("labels"))["pixels"], TRUTH)
            async with Tab(client, server.address, tab.token) as other:  # it is taken
                assert other.token != tab.token
                assert not other.hello["back"]


@asynchronous
async def test_sessions_that_nobody_uses_are_dropped():
    limits = Limits(idle_seconds=0.4, linger_seconds=0.2, pixels=4000)
    async with serving(limits) as (server, client):
        async with Tab(client, server.address) as tab:
            await tab.upload(encoded(halves()))
            await tab.hear("expired")
            assert len(server.sessions) == 0
            assert (await tab.download("image.png"))[0] == 404
        async with Tab(client, server.address):
            pass
        await eventually(lambda: len(server.sessions) == 0)
