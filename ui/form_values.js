// What the form of a question says, as the session protocol has it.

/** @typedef {import("../docs/protocol/session.js").QuestionField} QuestionField */
/** @typedef {Record<string, unknown>} AnswerValues */

/** The value of the choice that stands for the person's own words, and the end of their field's name. */
export const OTHER = "callgate:other";

/**
 * Reads the values of a form: what was left empty is left out.
 * @param {QuestionField[]} fields @param {{get: (name: string) => unknown, getAll: (name: string) => unknown[]}} form
 */
export function formValues(fields, form) {
  /** @type {AnswerValues} */
  const values = {};
  for (const { name, type } of fields) {
    const words = String(form.get(name + OTHER) ?? "").trim();
    const chosen = form
      .getAll(name)
      .map((value) => (value === OTHER ? words : String(value)))
      .filter(Boolean);
    // A box that is not ticked is not in the form, and means no.
    if (type === "boolean") values[name] = chosen.length > 0;
    else if (type === "several_of") {
      if (chosen.length) values[name] = chosen;
    } else if (chosen.length) {
      const isNumber = type === "number" || type === "integer";
      values[name] = isNumber ? Number(chosen[0]) : chosen[0];
    }
  }
  return values;
}
