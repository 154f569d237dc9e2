// The choice of a machine, where agents of more than one ask.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { HERE } from "../router.js";
import { valueOf } from "./controls.js";

/** @param {{row: {machine?: string}}} question */
export function machineOf({ row }) {
  return row.machine ?? HERE;
}

/** @param {string} machine */
export function machineName(machine) {
  return machine === HERE ? "This machine" : machine;
}

/**
 * Lets a person choose one of the machines that ask.
 * @param {Iterable<{row: {machine?: string}}>} questions @param {string} chosen empty for all
 * @param {(machine: string) => void} choose
 */
export function machineFilter(questions, chosen, choose) {
  const machines = new Set(chosen ? [chosen] : []);
  for (const question of questions) machines.add(machineOf(question));
  if (machines.size < 2 && !chosen) return nothing;
  return html`<div class="list-filter">
    <select
      class="field ${chosen ? "is-set" : ""}"
      aria-label="Machine"
      data-machine
      @change=${(/** @type {Event} */ event) => choose(valueOf(event))}
    >
      <option value="" ?selected=${!chosen}>Any machine</option>
      ${[...machines].sort().map(
        (machine) => html`<option value=${machine} ?selected=${machine === chosen}>${machineName(machine)}</option>`,
      )}
    </select>
  </div>`;
}
