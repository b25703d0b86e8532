"use strict";
// Fetches the same page again when something happens, and now and then for the times on it.
(() => {
  const REST = 2000;
  const SLOW = 15000;
  const words = document.currentScript.dataset.events.split(" ");
  const live = () => document.getElementById("live");
  let due = null;
  let last = Date.now();

  const say = (text) => {
    if (live().textContent !== text) live().textContent = text;
  };

  const refresh = async () => {
    due = null;
    last = Date.now();
    try {
      const answer = await fetch(location.pathname, { cache: "no-store" });
      if (!answer.ok) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      const main = fresh.querySelector("main");
      if (main) document.querySelector("main").replaceChildren(...main.childNodes);
    } catch {
      say("the node does not answer");
    }
  };

  const soon = () => {
    if (due === null) due = setTimeout(refresh, Math.max(0, last + REST - Date.now()));
  };

  const events = new EventSource("/v1/events");
  events.onopen = () => {
    say("live");
    soon();
  };
  events.onerror = () => say("not live, trying again");
  for (const word of words) events.addEventListener(word, soon);
  setInterval(() => {
    if (!document.hidden) soon();
  }, SLOW);
})();
