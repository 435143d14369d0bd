// Keyboard access that the theme lacks.
"use strict";

// Boxes that scroll sideways take the focus, so that the arrow keys scroll them.
function markScrollable() {
  for (const box of document.querySelectorAll("article pre, article .table-wrapper, .formula, dl.api > dt, dl.api table")) {
    const scrolls = box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX !== "visible";
    if (scrolls) {
      box.tabIndex = 0;
    } else {
      box.removeAttribute("tabindex");
    }
  }
}

// The icons of the folded menus become buttons; their check boxes outside of all landmarks are hidden.
function makeButton(icon, box, panel) {
  icon.tabIndex = 0;
  icon.setAttribute("role", "button");
  icon.setAttribute("aria-label", box.getAttribute("aria-label"));
  icon.setAttribute("aria-controls", panel);
  const show = () => icon.setAttribute("aria-expanded", String(box.checked));
  show();
  box.addEventListener("change", show);
  icon.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      box.click();
    }
  });
}

addEventListener("DOMContentLoaded", () => {
  for (const [name, panel] of [["__navigation", "pages"], ["__toc", "on-this-page"]]) {
    const box = document.getElementById(name);
    for (const icon of document.querySelectorAll(`.page label[for=${name}] > .icon`)) {
      makeButton(icon, box, panel);
    }
    box.hidden = true;
  }
  markScrollable();
  new ResizeObserver(markScrollable).observe(document.body);
});
