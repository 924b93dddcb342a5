"use strict";
(function () {
  // Shapes have a <title>, which browsers show after a while and only to a mouse. Show it at once, and to a finger too.
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  function show(event) {
    const shape = event.target.closest(".plot svg *");
    const title = shape && shape.querySelector(":scope > title");
    if (title) { shape.dataset.tip = title.textContent; title.remove(); }
    const text = shape && shape.dataset.tip;
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = Math.max(8, Math.min(event.clientX + 12, room)) + "px";
    tip.style.top = Math.max(8, event.clientY - tip.offsetHeight - 12) + "px";
  }
  document.addEventListener("pointermove", show);
  document.addEventListener("pointerdown", show);
  document.addEventListener("scroll", function () { tip.hidden = true; }, { passive: true });
  // What is closed on a screen is not printed: open what belongs on paper, then close it again.
  let closed = [];
  window.addEventListener("beforeprint", function () {
    tip.hidden = true;
    closed = Array.from(document.querySelectorAll("details.printed:not([open])"));
    closed.forEach(function (one) { one.open = true; });
  });
  window.addEventListener("afterprint", function () { closed.forEach(function (one) { one.open = false; }); });
  document.documentElement.dataset.ready = "yes";
})();
