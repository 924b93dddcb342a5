"use strict";
// One script for all screens. It sends forms, merges the answers into the page, and loads slow parts.

(function () {
  const root = document.documentElement;
  const base = root.dataset.base;
  const FAULT = "This is a fault of sfumato; the terminal shows where. Nothing is lost: go on, or undo the last change.";
  let events = null;

  // --- whether something is about to change what is shown: the page says so in data-ready, for tests and for programs

  let pending = 0;

  function begin() {
    pending += 1;
    root.dataset.ready = "no";
  }

  function end() {
    pending -= 1;
    if (pending === 0) root.dataset.ready = "yes";
  }

  begin();

  // --- merging: the old page becomes the new one, element by element, so that focus, scrolling and open details stay

  function merge(old, fresh) {
    if (old.nodeType === Node.TEXT_NODE) {
      if (old.data !== fresh.data) old.data = fresh.data;
      return;
    }
    if (old.nodeType !== Node.ELEMENT_NODE) return;
    const focused = old === document.activeElement;
    const typed = keeping && old.nodeName === "TEXTAREA" && old.value !== old.defaultValue;
    const part = old.dataset.part !== undefined && fresh.dataset.part !== undefined;
    const asked = part && old.dataset.key === fresh.dataset.key && old.dataset.part === fresh.dataset.part;
    for (const { name } of Array.from(old.attributes)) {
      if (fresh.hasAttribute(name) || name === "open" || (part && name === "aria-busy")) continue;
      old.removeAttribute(name);
    }
    for (const { name, value } of Array.from(fresh.attributes)) {
      if (name === "open" && old.nodeName === "DETAILS") continue; // whether it is open is the reader's choice
      if (part && name === "aria-busy" && asked) continue;
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    if (part) return; // its content is loaded, not sent with the page
    mergeChildren(old, fresh);
    if (!focused && !typed) mergeValue(old, fresh);
  }

  function mergeValue(old, fresh) {
    if (old.nodeName === "INPUT" && old.type !== "file") {
      if (old.type === "checkbox" || old.type === "radio") old.checked = fresh.hasAttribute("checked");
      else if (old.value !== fresh.value) old.value = fresh.value;
    } else if (old.nodeName === "TEXTAREA" && old.value !== fresh.value) {
      old.value = fresh.value;
    } else if (old.nodeName === "SELECT") {
      const chosen = fresh.querySelector("option[selected]");
      const value = chosen ? chosen.value : old.options.length ? old.options[0].value : "";
      if (old.value !== value) old.value = value;
    }
  }

  function mergeChildren(old, fresh) {
    const named = new Map();
    for (const child of old.children) if (child.id) named.set(child.id, child);
    const wanted = new Set(Array.from(fresh.children, child => child.id).filter(Boolean));
    let at = old.firstChild;
    for (const next of Array.from(fresh.childNodes)) {
      let match = null;
      if (next.id && named.has(next.id)) match = named.get(next.id);
      else if (at && !next.id && !(at.id && wanted.has(at.id)) && at.nodeType === next.nodeType && at.nodeName === next.nodeName && !at.id) match = at;
      if (match && match.nodeName !== next.nodeName) {
        named.delete(next.id);
        match = null;
      }
      if (!match) {
        old.insertBefore(document.importNode(next, true), at);
        continue;
      }
      if (match !== at) {
        if (match.contains(document.activeElement)) {
          // an element that is moved loses the focus, so what is before it is moved away instead
          while (at && at !== match) {
            const following = at.nextSibling;
            if (at.id && wanted.has(at.id)) old.insertBefore(at, match.nextSibling);
            else at.remove();
            at = following;
          }
        } else {
          old.insertBefore(match, at);
        }
      }
      at = match.nextSibling;
      merge(match, next);
    }
    while (at) {
      const following = at.nextSibling;
      at.remove();
      at = following;
    }
  }

  // an element that has the focus may go away with what it did, such as a button that removes or cancels: then the nearest
  // one that is left in the order of the Tab key gets the focus, so that somebody without a mouse stays where they were
  const REACHED = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']";

  function keepFocus(change) {
    const focused = document.activeElement;
    const order = Array.from(document.querySelectorAll(REACHED));
    const at = order.indexOf(focused);
    change();
    if (at < 0 || focused.isConnected) return;
    for (let away = 1; away < order.length; away += 1) {
      for (const near of [order[at + away], order[at - away]]) {
        if (!near || !near.isConnected || near.disabled || near.getClientRects().length === 0) continue;
        near.focus();
        return;
      }
    }
  }

  // a page that was not asked for, because of an event, does not replace text that somebody is writing
  let keeping = false;

  function show(text, unasked) {
    const page = new DOMParser().parseFromString(text, "text/html");
    if (!page.getElementById("main")) return;
    document.title = page.title;
    root.dataset.version = page.documentElement.dataset.version;
    root.dataset.state = page.documentElement.dataset.state;
    keeping = Boolean(unasked);
    keepFocus(() => merge(document.body, page.body));
    keeping = false;
    for (const report of reports.values()) drawProgress(report);
    loadParts();
  }

  // --- slow parts

  const loads = new Map();

  function loadParts() {
    for (const part of document.querySelectorAll("[data-part]")) loadPart(part);
  }

  async function loadPart(part) {
    const address = part.dataset.part + (part.dataset.part.includes("?") ? location.search.replace("?", "&") : location.search);
    const wanted = address + "#" + part.dataset.key;
    if (part.loadedKey === wanted) {
      part.removeAttribute("aria-busy");
      return;
    }
    const earlier = loads.get(part.id);
    if (earlier) {
      if (earlier.wanted === wanted) return;
      earlier.stop.abort();
    }
    const stop = new AbortController();
    loads.set(part.id, { wanted, stop });
    part.setAttribute("aria-busy", "true");
    const clock = setInterval(sayWaiting, 1000, part, Date.now());
    try {
      const answer = await fetch(address, { signal: stop.signal });
      if (answer.status === 204) {
        loads.delete(part.id);
        setTimeout(loadParts, 150);
        return;
      }
      if (answer.status === 401) return ended();
      const text = answer.status < 500 ? await answer.text() : `<div class="alert"><p>${FAULT}</p></div>`;
      if (loads.get(part.id)?.stop !== stop) return;
      const holder = document.createElement("div");
      holder.append(...new DOMParser().parseFromString(text, "text/html").body.childNodes);
      keepFocus(() => mergeChildren(part, holder));
      part.loadedKey = wanted;
      part.removeAttribute("aria-busy");
      part.dispatchEvent(new CustomEvent("part", { bubbles: true }));
    } catch (error) {
      if (error.name !== "AbortError") unreachable();
    } finally {
      clearInterval(clock);
      if (loads.get(part.id)?.stop === stop) loads.delete(part.id);
    }
  }

  // how long a part has taken so far; how much is left, nobody knows
  function sayWaiting(part, since) {
    if (!part.dataset.waiting) return;
    let line = part.querySelector(":scope > .waiting");
    if (!line) {
      line = document.createElement("p");
      line.className = "waiting";
      part.prepend(line);
    }
    const kernels = reports.get("kernels")?.step;
    line.textContent = `${part.dataset.waiting} ${Math.round((Date.now() - since) / 1000)} s${kernels ? `; ${kernels}` : ""}`;
  }

  // --- actions: one at a time; while one is on its way, only the latest further one of each form waits

  const waiting = new Map();
  let sending = false;

  // answers are numbered as they are asked for: one that is late may be of before what the page shows already
  let asked = 0;
  let shown = 0;

  function act(form, submitter) {
    const data = new URLSearchParams(new FormData(form));
    if (submitter && submitter.name) data.set(submitter.name, submitter.value);
    waiting.set(form.id || form.action, { form, data });
    send();
  }

  async function send() {
    if (sending || waiting.size === 0) return;
    sending = true;
    begin();
    const [key, { form, data }] = waiting.entries().next().value;
    waiting.delete(key);
    data.set("version", root.dataset.version);
    const number = ++asked;
    document.body.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(form.getAttribute("action") + location.search, { method: "POST", body: data });
      await take(answer);
      if (number < shown) refresh();
      else shown = number;
    } catch (error) {
      unreachable();
    } finally {
      sending = false;
      document.body.removeAttribute("aria-busy");
      send();
      end();
    }
  }

  async function take(answer) {
    if (answer.status === 401) return ended();
    const goto = answer.headers.get("x-goto");
    if (goto) {
      location.assign(goto);
      return;
    }
    if (answer.status >= 500) return message(FAULT);
    show(await answer.text());
    const error = document.getElementById("error");
    if (error) error.scrollIntoView({ block: "nearest" });
  }

  function message(text) {
    const said = document.getElementById("messages");
    let place = document.getElementById("error");
    if (!place) {
      place = document.createElement("div");
      place.id = "error";
      place.className = "alert";
      place.setAttribute("role", "alert");
      said.append(place);
    }
    place.textContent = text;
  }

  function unreachable() {
    message("sfumato does not answer. If it was ended, start it again; what this page shows is not lost until you leave it.");
  }

  function ended() {
    message("sfumato was started again since. Open the address that the terminal shows.");
  }

  let timer = 0;

  document.addEventListener("input", function (event) {
    const form = event.target.closest("form[data-live=input]");
    mirror(event.target);
    if (!form) return;
    if (timer) clearTimeout(timer);
    else begin();
    timer = setTimeout(function () {
      timer = 0;
      if (form.isConnected && form.checkValidity()) act(form);
      end();
    }, 60);
  });

  // a slider and the field beside it show the same value
  function mirror(field) {
    if (!field.dataset.mirror) return;
    const other = document.getElementById(field.dataset.mirror);
    if (!other) return;
    other.value = field.value;
  }

  document.addEventListener("change", function (event) {
    const form = event.target.closest("form[data-live]");
    if (form && form.dataset.query !== undefined) visit("?" + new URLSearchParams(new FormData(form)));
    else if (form && form.dataset.live !== "input" && form.checkValidity()) act(form);
    // a file that is chosen before it is agreed that changes may be lost is sent when it is
    const upload = event.target.closest("form[data-upload]");
    const files = upload ? upload.querySelector("input[type=file]").files : [];
    if (files.length && upload.reportValidity()) send_file(upload, files[0]);
  });

  document.addEventListener("submit", function (event) {
    const form = event.target;
    event.preventDefault();
    if (event.submitter && event.submitter.getAttribute("aria-disabled") === "true") return;
    if (form.dataset.query !== undefined) visit("?" + new URLSearchParams(new FormData(form)));
    else if (form.dataset.upload === undefined) act(form, event.submitter);
  });

  // a double click is one click: the second one could meet what took the place of the first, such as the next "Remove"
  document.addEventListener("click", function (event) {
    if (event.detail > 1 && event.target.closest("form[method=post] button:not([name=go])")) event.preventDefault();
  });

  async function send_file(form, file) {
    if (file.size > Number(form.dataset.largest)) {
      message(`${file.name} is too large to be copied. Open it by its path instead.`);
      return;
    }
    begin();
    document.getElementById("said").textContent = `Copying ${file.name}`;
    document.body.setAttribute("aria-busy", "true");
    try {
      const headers = { "x-file-name": encodeURIComponent(file.name) };
      if (new FormData(form).get("drop")) headers["x-drop"] = "yes";
      const answer = await fetch(form.dataset.upload, { method: "POST", body: file, headers });
      if (answer.status === 413) message(`${file.name} is too large to be copied. Open it by its path instead.`);
      else await take(answer);
    } catch (error) {
      unreachable();
    } finally {
      document.body.removeAttribute("aria-busy");
      end();
    }
  }

  // --- addresses: links that change only the query keep the page

  document.addEventListener("click", function (event) {
    const link = event.target.closest("a[data-soft]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    visit(link.getAttribute("href"));
  });

  async function visit(address) {
    history.pushState(null, "", address);
    await refresh();
  }

  async function refresh() {
    const number = ++asked;
    begin();
    try {
      const answer = await fetch(location.pathname + location.search);
      if (answer.status === 401) return ended();
      if (answer.status >= 500) return message(FAULT);
      const text = await answer.text();
      if (number < shown) return await refresh();
      shown = number;
      show(text, true);
    } catch (error) {
      unreachable();
    } finally {
      end();
    }
  }

  window.addEventListener("popstate", refresh);

  // --- values that are dragged between groups; the same is done by ticking them and choosing a group

  let dragged = null;

  document.addEventListener("dragstart", function (event) {
    const item = event.target.closest && event.target.closest("form[data-groups] li[draggable]");
    dragged = item;
    if (item) event.dataTransfer.setData("text/plain", item.textContent.trim());
  });

  document.addEventListener("dragover", function (event) {
    const box = dragged && event.target.closest("[data-drop]");
    for (const one of document.querySelectorAll(".over")) if (one !== box) one.classList.remove("over");
    if (!box) return;
    event.preventDefault();
    box.classList.add("over");
  });

  document.addEventListener("drop", function (event) {
    const box = dragged && event.target.closest("[data-drop]");
    for (const one of document.querySelectorAll(".over")) one.classList.remove("over");
    if (!box) return;
    event.preventDefault();
    const form = box.closest("form");
    const own = dragged.querySelector("input[type=checkbox]");
    if (!own.checked) for (const one of form.querySelectorAll("input[type=checkbox]")) one.checked = one === own;
    form.elements.to.value = box.dataset.drop;
    form.elements.new.value = "";
    act(form, form.querySelector("button[value=move]"));
    dragged = null;
  });

  // --- keys

  document.addEventListener("keydown", function (event) {
    const typing = event.target.closest("textarea, input:not([type=range]):not([type=checkbox]):not([type=radio])");
    if (typing || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
    const button = document.getElementById(event.shiftKey ? "redo" : "undo");
    if (!button || button.getAttribute("aria-disabled") === "true") return;
    event.preventDefault();
    act(button.form, button);
  });

  // --- events: changes of other tabs, and progress; only while the page is visible, because browsers limit connections

  function listen() {
    if (document.hidden) {
      if (events) events.close();
      events = null;
      return;
    }
    if (events) return;
    events = new EventSource(base + "/events");
    events.onerror = lost;
    events.onopen = function () {
      if (failures > 1) refresh(); // it was away, and is here again
      failures = 0;
    };
    events.onmessage = function (message) {
      const event = JSON.parse(message.data);
      if (isNews(event)) soon(event);
      if (event.job !== undefined) progress(event);
    };
  }

  // a server that ended is reported before somebody works on; one that was started again refuses this page, which says so
  let failures = 0;

  function lost() {
    failures += 1;
    if (events && events.readyState === EventSource.CLOSED) refresh();
    else if (failures > 1) unreachable();
  }

  function isNews(event) {
    const changed = event.version !== undefined && String(event.version) !== root.dataset.version;
    return changed || (event.state !== undefined && event.state !== root.dataset.state);
  }

  function soon(event) {
    // an action that is on its way brings the new version itself
    begin();
    setTimeout(function () {
      if (sending || waiting.size > 0) soon(event);
      else if (isNews(event)) refresh();
      end();
    }, 120);
  }

  // the latest report of each job: a page that was drawn before it arrived shows it as well
  const reports = new Map();

  function progress(event) {
    if (event.done) reports.delete(event.job);
    else reports.set(event.job, event);
    drawProgress(event);
    if (event.done) refresh();
  }

  function drawProgress(event) {
    for (const bar of document.querySelectorAll("progress")) {
      if (bar.dataset.job !== event.job) continue;
      if (event.share === undefined || event.share === null) bar.removeAttribute("value");
      else bar.value = event.share;
    }
    for (const place of document.querySelectorAll("[data-step]")) {
      if (place.dataset.step === event.job && event.step) place.textContent = event.step;
    }
  }

  document.addEventListener("visibilitychange", listen);
  window.addEventListener("pagehide", function () {
    if (events) events.close();
    events = null;
  });
  window.addEventListener("pageshow", listen);

  window.sfumato = { act, visit, refresh };
  loadParts();
  listen();
  end();
})();
