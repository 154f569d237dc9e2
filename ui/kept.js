// What this browser keeps for the page's origin. Without storage, it is kept until the page closes.

/** @type {Map<string, string>} */
const memory = new Map();

/** @param {string} name @returns {string | null} */
export function kept(name) {
  try {
    // Reading throws where storage is switched off.
    return localStorage.getItem(name) ?? memory.get(name) ?? null;
  } catch {
    return memory.get(name) ?? null;
  }
}

/** @param {string} name @param {string | null} value `null` forgets it */
export function keep(name, value) {
  if (value === null) memory.delete(name);
  else memory.set(name, value);
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // Storage may be switched off; the memory above is used then.
  }
}
