// Tabs by the ARIA pattern: one tab is in the tab order, arrow keys choose among them.

export class Tabs {
  constructor(list, chosen) {
    this.tabs = [...list.querySelectorAll("[role=tab]")];
    this.chosen = chosen;
    for (const tab of this.tabs) tab.addEventListener("click", () => this.choose(tab));
    list.addEventListener("keydown", (event) => this.hear(event));
  }

  hear(event) {
    const last = this.tabs.length - 1;
    const now = this.tabs.indexOf(document.activeElement);
    const next = {
      ArrowRight: now === last ? 0 : now + 1,
      ArrowLeft: now === 0 ? last : now - 1,
      Home: 0,
      End: last,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.tabs[next].focus();
    this.choose(this.tabs[next]);
  }

  choose(tab) {
    if (tab.getAttribute("aria-selected") === "true") return;
    for (const each of this.tabs) {
      const isChosen = each === tab;
      each.setAttribute("aria-selected", isChosen);
      each.tabIndex = isChosen ? 0 : -1;
      document.getElementById(each.getAttribute("aria-controls")).hidden = !isChosen;
    }
    this.chosen(tab.id.replace("tab-", ""));
  }
}
