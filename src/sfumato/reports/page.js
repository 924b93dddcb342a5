"use strict";
(function () {
  const specs = JSON.parse(document.getElementById("figures").textContent);
  const config = { displayModeBar: false, responsive: true, scrollZoom: false, doubleClick: false };
  const waiting = [];
  for (const [key, spec] of Object.entries(specs)) {
    const place = document.getElementById("plot-" + key);
    waiting.push(Plotly.newPlot(place, spec.data, spec.layout, config).then(function () { place.dataset.drawn = "yes"; }));
  }
  Promise.all(waiting).then(function () { document.documentElement.dataset.ready = "yes"; });
  // what is closed on a screen is not on paper: open what belongs there, then close it again
  let closed = [];
  window.addEventListener("beforeprint", function () {
    closed = Array.from(document.querySelectorAll("details.printed:not([open])"));
    closed.forEach(function (one) { one.open = true; });
  });
  window.addEventListener("afterprint", function () { closed.forEach(function (one) { one.open = false; }); });
})();
