"""The page in a real browser: painting, viewing, undoing, saving, two tabs at once."""

import asyncio

import numpy as np
import pytest

from browser_page import MILLISECONDS, expect, opened
from page_support import decoded

pytestmark = pytest.mark.slow

BLUE, ORANGE = (0, 114, 178), (230, 159, 0)


def assert_halves(shown, column=30, first=BLUE, second=ORANGE):
    """Check the colours of both sides; the border is white, and the last column of the first."""
    np.testing.assert_allclose(shown[:, : column - 1, :3].reshape(-1, 3).mean(0), first, atol=2)
    np.testing.assert_allclose(shown[:, column:, :3].reshape(-1, 3).mean(0), second, atol=2)
    assert (shown[:, column - 1] == 255).all()


def test_two_classes_are_painted_shown_and_downloaded(browser, address):
    with opened(browser, address) as page:
        shown = "select => select.selectedOptions[0].textContent"
        assert page.tab.locator("#sample").evaluate(shown) == "landscape"
        page.open_halves()
        assert page.tab.locator("#sample").evaluate(shown) == "your image"
        page.paint_halves()
        page.wait_for("Done")
        assert_halves(page.pixels())
        assert float(page.tab.text_content("#gap")) <= 5e-4
        assert page.tab.text_content("#iterations").isdigit()  # 0 if the start is optimal

        name, content = page.download("#get-labels")
        assert name == "image-labels.png"
        truth = np.where(np.arange(60) < 30, 1, 2) * np.ones((40, 1), dtype=int)
        np.testing.assert_array_equal(np.asarray(decoded(content)), truth)
        name, content = page.download("#get-scribbles")
        assert name == "image-scribbles.png"
        marks = np.asarray(decoded(content))
        assert set(marks.ravel().tolist()) == {0, 1, 2}
        assert (marks[:, :20] != 2).all()


def test_undo_takes_the_last_stroke_back(browser, address):
    with opened(browser, address) as page:
        page.open_halves()
        page.paint_halves()
        page.wait_for("Done")
        with_both = page.pixels("strokes")
        page.tab.keyboard.press("Control+z")
        page.wait_for("Waiting for scribbles")
        assert (page.pixels()[..., 3] == 0).all()
        assert (page.pixels("strokes")[:, 40:] == 0).all()
        assert page.tab.locator("#get-labels").get_attribute("aria-disabled") == "true"
        page.paint((0.9, 0.2), (0.85, 0.8))
        page.wait_for("Done")
        assert np.abs(page.pixels("strokes") - with_both).mean() < 2  # except at smooth edges
        assert_halves(page.pixels())
        page.tab.click("#undo")
        page.tab.click("#undo")
        expect(page.tab.locator("#undo")).to_be_disabled()


def test_what_is_no_image_is_told_and_changes_nothing(browser, address):
    with opened(browser, address) as page:
        page.open_halves()
        page.paint_halves()
        page.wait_for("Done")
        message = page.tab.locator("#message")
        for content, name, kind, words in [
            (b"not an image", "fake.png", "image/png", "not a PNG image"),
            (b"plain text", "notes.txt", "text/plain", "not a PNG, JPEG"),
            (bytes(3_000_000), "large.png", "image/png", "too large"),
        ]:
            page.open(content, name, kind)
            expect(message).to_contain_text(words, timeout=MILLISECONDS)
            page.tab.click("#message button")
            expect(message).to_be_hidden()
        assert_halves(page.pixels())


def test_classes_are_added_named_and_removed(browser, address):
    with opened(browser, address) as page:
        page.open_halves()
        page.tab.click("#add")
        name = page.tab.locator("#classes .name").nth(2)
        name.fill("sea")
        name.press("Tab")
        page.choose(1)
        page.paint((0.1, 0.2), (0.15, 0.8))
        page.tab.keyboard.press("3")
        page.paint((0.9, 0.2), (0.85, 0.8))
        page.wait_for("Done")
        assert_halves(page.pixels(), second=(0, 158, 115))
        _, content = page.download("#get-labels")
        assert decoded(content).text["Classes"].endswith("3 sea")
        page.tab.locator("#classes .remove").nth(1).click()
        expect(page.tab.locator("#classes li")).to_have_count(2)
        page.wait_for("Done")
        expect(page.tab.locator("#classes .name").nth(1)).to_have_value("sea")
        assert_halves(page.pixels(), second=(0, 158, 115))  # it keeps its colour


def test_two_tabs_at_once_know_nothing_of_each_other(browser, address):
    with opened(browser, address) as one, opened(browser, address) as other:
        one.open_halves(column=20)
        other.open_halves(column=42, left=(30, 140, 60), right=(230, 210, 80))
        one.choose(1)
        other.choose(1)
        one.paint((0.1, 0.2), (0.15, 0.8))
        other.paint((0.1, 0.2), (0.15, 0.8))
        one.choose(2)
        other.choose(2)
        one.paint((0.9, 0.2), (0.85, 0.8))
        other.paint((0.9, 0.2), (0.85, 0.8))
        one.wait_for("Done")
        other.wait_for("Done")
        assert_halves(one.pixels(), 20)
        assert_halves(other.pixels(), 42)
        one.tab.click("#undo")
        one.wait_for("Waiting for scribbles")
        assert_halves(other.pixels(), 42)


def test_settings_the_slider_and_the_eraser(browser, address):
    with opened(browser, address) as page:
        page.open_halves()
        page.paint_halves()
        page.wait_for("Done")
        page.tab.click("#advanced summary")
        page.tab.select_option("#preconditioner", "nested")
        expect(page.tab.locator("#detail")).to_have_text("nested", timeout=MILLISECONDS)
        page.tab.click("#advanced summary")
        page.wait_for("Done")
        assert_halves(page.pixels())
        page.tab.locator("#split").fill("50")
        assert "50%" in page.tab.locator("#result").evaluate("canvas => canvas.style.clipPath")
        expect(page.tab.locator("#divider")).to_be_visible()
        page.tab.locator("#brush").fill("20")
        page.tab.click("#eraser")
        page.paint((0.9, 0.0), (0.85, 1.0))
        page.wait_for("Waiting for scribbles")
        assert (page.pixels("strokes")[:, 45:55, 3] == 0).all()


def test_after_an_interruption_the_tab_comes_back(browser, server):
    with opened(browser, server.address) as page:
        page.open_halves()
        page.paint_halves()
        page.wait_for("Done")
        cut = asyncio.run_coroutine_threadsafe(server._say_goodbye(None), server.loop)
        cut.result(20)
        page.wait_for("Reconnecting")
        page.wait_for("Done")
        assert_halves(page.pixels())
        page.tab.click("#undo")
        page.wait_for("Waiting for scribbles")
        expect(page.tab.locator("#message")).to_be_hidden()


def test_redo_clear_and_their_buttons(browser, address):
    with opened(browser, address) as page:
        page.open_halves()
        expect(page.tab.locator("#redo")).to_be_disabled()
        page.paint_halves()
        page.wait_for("Done")
        page.tab.keyboard.press("Control+z")
        page.wait_for("Waiting for scribbles")
        page.tab.keyboard.press("Control+y")
        page.wait_for("Done")
        assert_halves(page.pixels())
        page.tab.click("#clear")
        page.wait_for("Waiting for scribbles")
        assert (page.pixels("strokes")[..., 3] == 0).all()
        expect(page.tab.locator("#clear")).to_be_disabled()
        page.tab.click("#undo")
        page.wait_for("Done")
        page.tab.click("#undo")
        page.tab.keyboard.press("Control+Shift+Z")
        page.wait_for("Done")
        expect(page.tab.locator("#redo")).to_be_enabled()  # the cleared state


def test_scribbles_are_saved_and_loaded_with_their_colours(browser, address):
    with opened(browser, address) as page:
        page.open_halves()
        page.tab.locator("#classes .colour").nth(0).evaluate(
            """input => { input.value = "#ff0000"; input.dispatchEvent(new Event("change")); }"""
        )
        page.paint_halves()
        page.wait_for("Done")
        assert_halves(page.pixels(), first=(255, 0, 0))
        strokes = page.pixels("strokes")
        _, content = page.download("#get-scribbles")
        assert decoded(content).getpalette()[3:6] == [255, 0, 0]
        page.open_halves()
        assert (page.pixels("strokes")[..., 3] == 0).all()
        file = {"name": "scribbles.png", "mimeType": "image/png", "buffer": content}
        page.tab.locator("#scribbles-file").set_input_files(file)
        page.wait_for("Done")
        assert_halves(page.pixels(), first=(255, 0, 0))
        differs = (page.pixels("strokes") > 127) != (strokes > 127)
        assert differs.mean() < 0.03  # at smooth edges


def test_strokes_are_painted_where_the_image_is_zoomed_and_moved(browser, address):
    with opened(browser, address) as page:
        page.open_halves()
        box = page.tab.locator("#frame").bounding_box()
        page.tab.mouse.move(box["x"] + box["width"] - 9, box["y"] + 9)  # the upper right corner
        for _ in range(3):
            page.tab.mouse.wheel(0, -240)
        expect(page.tab.locator("#zoom-shown")).not_to_have_text("100 %")
        page.tab.mouse.click(box["x"] + box["width"] - 20, box["y"] + 20)
        rows, columns = np.nonzero(page.pixels("strokes")[..., 3])
        assert rows.max() < 12
        assert columns.min() > 48
        page.tab.click("#tool-move")
        page.tab.mouse.move(box["x"] + 50, box["y"] + 50)
        page.tab.mouse.down()
        page.tab.mouse.move(box["x"] + 5000, box["y"] - 5000, steps=5)
        page.tab.mouse.up()  # now the lower left corner is in view, and nothing was painted
        assert len(np.nonzero(page.pixels("strokes")[..., 3])[0]) == len(rows)
        page.tab.click("#tool-paint")
        page.tab.mouse.click(box["x"] + 20, box["y"] + box["height"] - 20)
        shown = page.pixels("strokes")[..., 3]
        assert shown[-12:, :12].any()
        page.tab.click("#zoom-fit")
        expect(page.tab.locator("#zoom-shown")).to_have_text("100 %")
        expect(page.tab.locator("#zoom-fit")).to_be_disabled()


def test_the_keyboard_alone_is_enough(browser, address):
    with opened(browser, address) as page:
        page.open_halves()
        frame, live = page.tab.locator("#frame"), page.tab.locator("#live")
        frame.focus()
        page.tab.keyboard.press("1")
        expect(live).to_have_text("Brush: background")
        for _ in range(6):
            page.tab.keyboard.press("ArrowLeft")
        page.tab.keyboard.press("Space")
        expect(live).to_contain_text("Stroke of background begins at 9, 20")
        for _ in range(3):
            page.tab.keyboard.press("ArrowDown")
        page.tab.keyboard.press("Space")
        page.tab.keyboard.press("2")
        page.tab.keyboard.press("Shift+ArrowRight")
        page.tab.keyboard.press("Shift+ArrowRight")
        page.tab.keyboard.press("Space")
        page.tab.keyboard.press("ArrowUp")
        page.tab.keyboard.press("Escape")
        page.wait_for("Done")
        assert_halves(page.pixels())
        page.tab.keyboard.press("+")
        expect(page.tab.locator("#zoom-shown")).to_have_text("140 %")
        page.tab.keyboard.press("0")
        page.tab.keyboard.press("]")
        expect(page.tab.locator("#brush-shown")).to_have_text("9 px")
        page.tab.keyboard.press("?")
        expect(page.tab.locator("#help")).to_be_visible()
        page.tab.keyboard.press("Escape")
        expect(page.tab.locator("#help")).to_be_hidden()


def test_keys_can_be_turned_off_outside_the_image(browser, address):
    with opened(browser, address) as page:
        page.open_halves()
        page.tab.click("#open-help")
        page.tab.locator("#single-keys").uncheck()
        page.tab.keyboard.press("Escape")
        page.tab.locator("#weight").focus()
        page.tab.keyboard.press("e")
        expect(page.tab.locator("#eraser")).to_have_attribute("aria-pressed", "false")
        page.tab.locator("#frame").focus()
        page.tab.keyboard.press("e")
        expect(page.tab.locator("#eraser")).to_have_attribute("aria-pressed", "true")


def test_the_race_fills_the_table_and_the_chart(browser, address):
    with opened(browser, address) as page:
        page.open_halves()
        page.paint_halves()
        page.wait_for("Done")
        page.tab.click("#advanced summary")
        page.tab.click("#race")
        expect(page.tab.locator("#race")).to_have_text("Start the race", timeout=MILLISECONDS)
        states = page.tab.locator("#race-table td:last-child").all_text_contents()
        assert len(states) == 5
        assert all(state.startswith("optimal") for state in states)
        assert page.pixels("race-curve")[..., 3].any()
