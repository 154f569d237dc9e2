// Unified diffs, as tools and git print them, read into changes with the line numbers of their files.

/** @typedef {import("./types/desk.js").Change} Change */
/** @typedef {import("./types/desk.js").DiffLine} DiffLine */

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/**
 * Reads a diff. Each hunk is a change; what is between hunks is left out.
 * @param {string} text @returns {{path: string, changes: Change[]}[]} the files, none if it is no diff
 */
export function readUnifiedDiff(text) {
  /** @type {{path: string, changes: Change[]}[]} */
  const files = [];
  let before = "";
  // The numbers of the next lines, and how many of each side the hunk still has.
  let [old, fresh, olds, freshes] = [0, 0, 0, 0];
  for (const line of text.split("\n")) {
    const hunk = olds + freshes > 0 ? null : HUNK.exec(line);
    if (olds + freshes > 0) {
      const op = line.charAt(0) || " ";
      // Such as "\ No newline at end of file".
      if (op !== "+" && op !== "-" && op !== " ") continue;
      const [isOld, isNew] = [op !== "+", op !== "-"];
      const shown = { op, old: isOld ? old : null, new: isNew ? fresh : null, text: line.slice(1) };
      files.at(-1)?.changes.at(-1)?.lines.push(/** @type {DiffLine} */ (shown));
      if (isOld) [old, olds] = [old + 1, olds - 1];
      if (isNew) [fresh, freshes] = [fresh + 1, freshes - 1];
    } else if (hunk) {
      [old, fresh] = [Number(hunk[1]), Number(hunk[3])];
      [olds, freshes] = [Number(hunk[2] ?? 1), Number(hunk[4] ?? 1)];
      if (!files.length) files.push({ path: "", changes: [] });
      files.at(-1)?.changes.push({ everywhere: false, lines: [] });
    } else if (line.startsWith("--- ")) before = pathOf(line);
    else if (line.startsWith("+++ ")) {
      const after = pathOf(line);
      files.push({ path: after === "/dev/null" ? before : after, changes: [] });
    }
  }
  return files.filter(({ changes }) => changes.length);
}

/** @param {string} line @returns {string} the path, without the time and the folders of git */
function pathOf(line) {
  return line.slice(4).split("\t")[0].replace(/^[ab]\//, "");
}
