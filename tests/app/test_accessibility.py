"""The page for everybody: axe-core finds nothing, sliders and tabs behave as their roles promise.

axe-core is not part of this project. ``GRAPHTV_AXE`` is the path of its ``axe.min.js``. Without it
the tests look for ``node_modules/axe-core``, where ``npm install --no-save axe-core`` puts it.
"""

import os
from pathlib import Path

import pytest

from browser_page import DESKTOP, MILLISECONDS, PHONE, expect, opened

pytestmark = pytest.mark.slow

LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.fixture(scope="module")
def axe():
    """Return the source of axe-core."""
    installed = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
    path = Path(os.environ.get("GRAPHTV_AXE", installed))
    if not path.is_file():
        pytest.skip("needs axe-core: npm install --no-save axe-core")
    return path.read_text(encoding="utf-8")


def violations(page, axe):
    page.tab.evaluate(axe)
    found = page.tab.evaluate("levels => axe.run({ runOnly: levels })", LEVELS)
    assert len(found["passes"]) > 10
    return [
        (rule["id"], node["target"], node.get("failureSummary"))
        for rule in found["violations"]
        for node in rule["nodes"]
    ]


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser, address, axe, size, scheme):
    with opened(browser, address, viewport=size, color_scheme=scheme) as page:
        assert violations(page, axe) == []
        page.open_halves()
        page.tab.click("#add")
        page.paint_halves()
        page.wait_for("Done")
        page.tab.click("#advanced summary")
        page.tab.click("#race")
        expect(page.tab.locator("#race")).to_have_text("Start the race", timeout=MILLISECONDS)
        page.open(b"not an image", "fake.png")
        expect(page.tab.locator("#message")).to_be_visible()
        assert violations(page, axe) == []
        page.tab.select_option("#sample", "nuclei (stack)")
        page.open_task("denoise")
        page.wait_for("Done")
        assert violations(page, axe) == []
        page.tab.click("#open-help")
        assert violations(page, axe) == []


def test_sliders_announce_what_they_show(browser, address):
    with opened(browser, address) as page:
        page.open_halves()
        page.open_task("denoise")
        page.wait_for("Done")
        for task in ("denoise", "segment"):
            page.open_task(task)
            sliders = page.tab.locator(f"#panel-{task} input[type=range]")
            assert sliders.count() >= 2
            for k in range(sliders.count()):
                slider = sliders.nth(k)
                name = slider.get_attribute("id")
                slider.focus()
                page.tab.keyboard.press("ArrowRight")
                shown = page.tab.locator(f"#{name}-shown").text_content()
                assert slider.get_attribute("aria-valuetext") == shown
                assert page.tab.locator(f"label[for={name}]").count() == 1


def test_tabs_follow_the_arrow_keys(browser, address):
    with opened(browser, address) as page:
        segment, denoise = (page.tab.locator(f"#tab-{name}") for name in ("segment", "denoise"))
        segment.focus()
        for key, chosen, other in [
            ("ArrowRight", denoise, segment),
            ("ArrowRight", segment, denoise),
            ("ArrowLeft", denoise, segment),
            ("Home", segment, denoise),
            ("End", denoise, segment),
        ]:
            page.tab.keyboard.press(key)
            expect(chosen).to_be_focused()
            expect(chosen).to_have_attribute("aria-selected", "true")
            expect(other).to_have_attribute("tabindex", "-1")
        expect(page.tab.locator("#panel-denoise")).to_be_visible()
        expect(page.tab.locator("#panel-segment")).to_be_hidden()


def test_a_phone_shows_the_image_then_the_classes_then_the_state(browser, address):
    with opened(browser, address, viewport=PHONE) as page:
        page.open_halves()
        boxes = [
            page.tab.locator(name).bounding_box() for name in ("#frame", "#classes", "#status")
        ]
        tops = [box["y"] for box in boxes]
        assert tops == sorted(tops)
        width = page.tab.evaluate("() => document.documentElement.scrollWidth")
        assert width <= PHONE["width"]
        for box in boxes:
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= PHONE["width"]


def test_what_is_focused_can_be_seen(browser, address):
    with opened(browser, address) as page:
        for _ in range(12):
            page.tab.keyboard.press("Tab")
            focused = page.tab.evaluate(
                """() => {
                    const style = getComputedStyle(document.activeElement);
                    return [document.activeElement.id, style.outlineStyle, style.outlineWidth];
                }"""
            )
            assert focused[1] == "solid", focused
            assert focused[2] == "3px", focused
