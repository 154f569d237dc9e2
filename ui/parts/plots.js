// Plots of the history, as SVG. Each has a caption in words for people who do not see it.

import { html, svg } from "../vendor/lit-html/lit-html.js";
import { agentName, counted, dayOf, duration, folderName, timeOf } from "../words.js";
import { choiceOf } from "./controls.js";

/** @typedef {import("../types/desk.js").Figures} Figures */
/** @typedef {import("../types/desk.js").Tally} Tally */
/** @typedef {{at: number, allowed: number, denied: number, by_rule: number, other: number}} Bar */

const HOUR = 3_600_000;
const KINDS = /** @type {[string, string][]} */ ([
  ["project", "Project"],
  ["agent", "Agent"],
  ["tool", "Tool"],
]);
const MOST_BARS = 56;
const HEIGHT = 60;

/** The hours under the pointer, in words. @type {string | null} */
let pointed = null;

/**
 * Joins hours into at most so many bars. Hours without calls are bars of height 0.
 * @param {Figures["hours"]} hours @returns {{bars: Bar[], span: number}}
 */
export function barsOf(hours) {
  if (!hours.length) return { bars: [], span: HOUR };
  const times = hours.map((hour) => hour.at_ms);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const steps = [1, 2, 3, 6, 12, 24, 48, 168, 336, 720, 2160, 8760];
  const step = steps.find((step) => (last - first) / HOUR / step < MOST_BARS) ?? 8760;
  const span = step * HOUR;
  const bars = Array.from({ length: Math.floor((last - first) / span) + 1 }, (_, at) => ({
    at: first + at * span,
    allowed: 0,
    denied: 0,
    by_rule: 0,
    other: 0,
  }));
  for (const hour of hours) {
    const bar = bars[Math.floor((hour.at_ms - first) / span)];
    bar.allowed += hour.allowed;
    bar.denied += hour.denied;
    bar.by_rule += hour.by_rule;
    bar.other += Math.max(0, hour.asked - hour.allowed - hour.denied);
  }
  return { bars, span };
}

const SERIES = /** @type {const} */ ([
  ["by_rule", "rule"],
  ["allowed", "allow"],
  ["denied", "deny"],
  ["other", "idle"],
]);

// Each move of the pointer draws the plot anew.
/** @type {WeakMap<Figures, ReturnType<typeof barsOf>>} */
const known = new WeakMap();

/** @param {import("../app.js").App} app @param {Figures} figures */
export function hoursPlot(app, figures) {
  const { bars, span } = known.get(figures) ?? barsOf(figures.hours);
  known.set(figures, { bars, span });
  const total = (/** @type {Bar} */ bar) => bar.allowed + bar.denied + bar.by_rule + bar.other;
  const most = Math.max(1, ...bars.map(total));
  // So that a few bars do not fill the whole width.
  const width = Math.max(bars.length, 12);
  const bottoms = bars.map(() => 0);
  const paths = SERIES.map(([name, tone]) => {
    const path = bars.map((bar, at) => {
      const height = (bar[name] / most) * HEIGHT;
      const top = HEIGHT - bottoms[at] - height;
      bottoms[at] += height;
      return height ? `M${at + 0.14} ${top.toFixed(2)}h.72v${height.toFixed(2)}h-.72z` : "";
    });
    return svg`<path class="fill-${tone}" d=${path.join("")}></path>`;
  });
  const point = (/** @type {PointerEvent} */ event) => {
    const box = /** @type {Element} */ (event.currentTarget).getBoundingClientRect();
    const bar = bars[Math.floor(((event.clientX - box.left) / box.width) * width)];
    const shares = bar && `${bar.allowed} allowed, ${bar.denied} denied, ${bar.by_rule} by rule`;
    pointed = bar ? `${time(bar.at, span)}: ${counted(total(bar), "decision")}, ${shares}` : null;
    app.update();
  };
  const leave = () => {
    pointed = null;
    app.update();
  };
  const sum = bars.reduce((sum, bar) => sum + total(bar), 0);
  const ends = bars
    .filter((_, at) => at === 0 || at === bars.length - 1)
    .map((bar) => html`<span>${time(bar.at, span)}</span>`);
  return html`<figure class="plot panel wide">
    <figcaption>
      <h2 class="sub">Decisions per hour</h2>
      <strong class="figure num">${rate(bars.length ? sum / ((bars.length * span) / HOUR) : 0)}</strong>
    </figcaption>
    <svg
      class="bars"
      viewBox="0 0 ${width} ${HEIGHT}"
      preserveAspectRatio="none"
      role="img"
      aria-label="${counted(sum, "decision")} over time"
      @pointermove=${point}
      @pointerleave=${leave}
    >
      ${paths}
    </svg>
    <p class="tiny muted axis num">${pointed ? pointed : bars.length ? ends : "Nothing yet"}</p>
  </figure>`;
}

/** @param {number} perHour */
function rate(perHour) {
  const digits = perHour >= 10 ? 0 : perHour >= 0.1 || perHour === 0 ? 1 : 2;
  return perHour.toLocaleString(undefined, { maximumFractionDigits: digits });
}

/** @param {number} at @param {number} span */
function time(at, span) {
  return span >= 24 * HOUR ? dayOf(at) : `${dayOf(at)}, ${timeOf(at)}`;
}

/** @param {Figures["answer_ms"]} answers */
export function answersPlot({ p50, p90, buckets }) {
  const most = Math.max(1, ...buckets.map((bucket) => bucket.count));
  const width = Math.max(buckets.length, 1);
  const path = buckets.map((bucket, at) => {
    const height = (bucket.count / most) * HEIGHT;
    return height ? `M${at + 0.1} ${(HEIGHT - height).toFixed(2)}h.8v${height.toFixed(2)}h-.8z` : "";
  });
  const axis = [
    buckets[0]?.up_to_ms ? duration(buckets[0].up_to_ms) : "",
    p90 === null ? "" : `90% within ${duration(p90)}`,
  ];
  return html`<figure class="plot panel">
    <figcaption>
      <h2 class="sub">Time to answer</h2>
      <strong class="figure num">${p50 === null ? "–" : duration(p50)}</strong>
    </figcaption>
    <svg
      class="bars"
      viewBox="0 0 ${width} ${HEIGHT}"
      preserveAspectRatio="none"
      role="img"
      aria-label="Half of the answers took less than ${duration(p50 ?? 0)}"
    >
      <path class="fill-accent" d=${path.join("")}></path>
    </svg>
    <p class="tiny muted axis num">
      ${p50 === null ? "Nobody was asked" : axis.map((text) => html`<span>${text}</span>`)}
    </p>
  </figure>`;
}

/** @param {Figures["shares"]} shares */
export function sharesPlot({ allowed, denied, by_rule, timeout }) {
  const parts = /** @type {[string, number, string][]} */ ([
    ["By rule", by_rule, "rule"],
    ["Allowed", allowed, "allow"],
    ["Denied", denied, "deny"],
    ["No answer", timeout, "idle"],
  ]);
  const total = parts.reduce((sum, [, count]) => sum + count, 0);
  let left = 0;
  const rects = parts.map(([, count, tone]) => {
    const width = total ? (count / total) * 100 : 0;
    left += width;
    return svg`<rect class="fill-${tone}" x=${left - width} width=${width} height="10"></rect>`;
  });
  const percent = (/** @type {number} */ count) => (total ? `${Math.round((count / total) * 100)}%` : "–");
  const key = (/** @type {[string, number, string]} */ [name, count, tone]) =>
    html`<li>
      <span class="key fill-${tone}"></span>${name}<span class="num grow">${percent(count)}</span>
    </li>`;
  return html`<figure class="plot panel">
    <figcaption>
      <h2 class="sub">Decided by rules</h2>
      <strong class="figure num">${percent(by_rule)}</strong>
    </figcaption>
    <svg
      class="shares"
      viewBox="0 0 100 10"
      preserveAspectRatio="none"
      role="img"
      aria-label="Shares of the decisions"
    >
      ${rects}
    </svg>
    <ul class="legend">
      ${parts.map(key)}
    </ul>
  </figure>`;
}

/**
 * @param {Figures} figures @param {string} by which of the tallies @param {(by: string) => void} choose
 * @param {(name: string) => string} addressOf
 */
export function talliesPlot(figures, by, choose, addressOf) {
  const all = /** @type {Record<string, Tally[]>} */ ({
    project: figures.by_project,
    agent: figures.by_agent,
    tool: figures.by_tool,
  });
  const tallies = (all[by] ?? []).slice(0, 4);
  const most = Math.max(1, ...tallies.map((tally) => tally.count));
  const names = /** @type {Record<string, (name: string) => string>} */ ({
    project: folderName,
    agent: agentName,
  });
  return html`<figure class="plot panel">
    <figcaption>${choiceOf("Count by", KINDS, by, choose)}</figcaption>
    <ul class="tallies">
      ${
        tallies.length
          ? tallies.map(
              (tally) =>
                html`<li>
                  <a
                    href=${addressOf(tally.name)}
                    title="${tally.name}: ${tally.allowed} allowed, ${tally.denied} denied"
                  >
                    <span class="row"
                      ><span class="grow cut">${names[by]?.(tally.name) ?? tally.name}</span
                      ><span class="num muted">${tally.count.toLocaleString()}</span></span
                    >
                    <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
                      <rect class="fill-line" width="100" height="4"></rect>
                      <rect class="fill-accent" width=${(tally.count / most) * 100} height="4"></rect></svg
                  ></a>
                </li>`,
            )
          : html`<li class="muted small">Nothing yet</li>`
      }
    </ul>
  </figure>`;
}
