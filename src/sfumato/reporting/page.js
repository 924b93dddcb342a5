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
  // a closed table is not printed, and its summary would promise what paper cannot show: open all, then close again
  let closed = [];
  window.addEventListener("beforeprint", function () {
    closed = Array.from(document.querySelectorAll("details.numbers:not([open])")).filter(function (one) {
      return one.querySelectorAll("tr").length <= 16;
    });
    closed.forEach(function (one) { one.open = true; });
  });
  window.addEventListener("afterprint", function () { closed.forEach(function (one) { one.open = false; }); });
})();
