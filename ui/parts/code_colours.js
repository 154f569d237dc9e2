// Colours for code: comments, texts, numbers and keywords. They are laid over the text, of which
// nothing changes. Like the terminal's, it knows the words and marks of a language and no grammar.

const C_LIKE = "break case const continue default do else enum false for if null return static struct switch this true typedef void while";
const COMMENTS = "\\/\\/.*|\\/\\*[^]*?(?:\\*\\/|$)";
const HASH = "#.*";
const QUOTES = `"(?:[^"\\\\\\n]|\\\\.)*"?|'(?:[^'\\\\\\n]|\\\\.)*'?`;

/**
 * The languages: their names, comments and texts as regular expressions, and keywords.
 * @type {[string, string, string, string][]}
 */
const LANGUAGES = [
  [
    "rust rs",
    COMMENTS,
    `"(?:[^"\\\\]|\\\\.)*"?|'(?:[^'\\\\\\n]|\\\\.)'`,
    "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while",
  ],
  [
    "python py python3",
    HASH,
    `"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|${QUOTES}`,
    "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield",
  ],
  [
    "javascript js jsx mjs cjs typescript ts tsx",
    COMMENTS,
    `\`(?:[^\`\\\\]|\\\\.)*\`?|${QUOTES}`,
    "as async await break case catch class const continue default delete do else enum export extends false finally for from function if implements import in instanceof interface let new null of private public readonly return static super switch this throw true try type typeof undefined var void while yield",
  ],
  [
    "sh bash shell zsh console dockerfile make makefile",
    `(?<=^|\\s)${HASH}`,
    `"(?:[^"\\\\]|\\\\.)*"?|'[^']*'?`,
    "case do done elif else esac export fi for function if in local return set then until while FROM RUN COPY",
  ],
  ["toml yaml yml ini conf env", HASH, QUOTES, "true false null yes no"],
  ["json jsonc json5", COMMENTS, QUOTES, "true false null"],
  [
    "go golang java kotlin kt swift c h cpp c++ hpp csharp cs scala dart php",
    COMMENTS,
    QUOTES,
    `${C_LIKE} abstract auto bool boolean catch char class chan defer double extends final finally float fun func function go implements import include int interface internal let long map namespace new nil override package private protected public range select short string super template throw try type unsigned using val var virtual when`,
  ],
  [
    "sql",
    "--.*|\\/\\*[^]*?(?:\\*\\/|$)",
    "'(?:[^']|'')*'?",
    "ALTER AND AS ASC BETWEEN BY CASE COLUMN CREATE DELETE DESC DISTINCT DROP ELSE END EXISTS FROM GROUP HAVING IN INDEX INNER INSERT INTO IS JOIN KEY LEFT LIKE LIMIT NOT NULL ON OR ORDER OUTER PRIMARY SELECT SET TABLE THEN UNION UPDATE VALUES WHEN WHERE WITH",
  ],
  ["css scss less", COMMENTS, QUOTES, "important media supports"],
  ["html xml svg vue", "<!--[^]*?(?:-->|$)", QUOTES, ""],
];

/** @type {Map<string, RegExp>} by the name of the language */
const known = new Map();

/** @param {string} name @returns {RegExp | null} what finds the tokens of a language */
function tokensOf(name) {
  const found = known.get(name);
  if (found) return found;
  const language = LANGUAGES.find(([names]) => names.split(" ").includes(name));
  if (!language) return null;
  const [names, comment, text, words] = language;
  const keywords = words ? `(?<keyword>\\b(?:${words.split(" ").join("|")})\\b)` : "(?<keyword>(?!))";
  const number = "(?<number>\\b(?:0x[\\da-fA-F_]+|\\d[\\d_]*(?:\\.\\d+)?))";
  const flags = names === "sql" ? "gim" : "gm";
  const tokens = new RegExp(`(?<comment>${comment})|(?<text>${text})|${keywords}|${number}`, flags);
  known.set(name, tokens);
  return tokens;
}

/**
 * Splits code into its tokens and what is between them. Joined, they are the code.
 * @param {string} info what the block says of its language @param {string} code
 * @returns {{text: string, kind: string}[]}
 */
export function codePieces(info, code) {
  const name = (/^[\w+#-]*/.exec(info.trim().toLowerCase()) ?? [""])[0];
  if (name === "diff" || name === "patch") return diffPieces(code);
  const tokens = tokensOf(name);
  if (!tokens) return [{ text: code, kind: "" }];
  const pieces = [];
  let at = 0;
  for (const match of code.matchAll(tokens)) {
    if (match.index > at) pieces.push({ text: code.slice(at, match.index), kind: "" });
    const kind = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined)?.[0] ?? "";
    pieces.push({ text: match[0], kind });
    at = match.index + match[0].length;
  }
  if (at < code.length) pieces.push({ text: code.slice(at), kind: "" });
  return pieces;
}

/** @param {string} code */
function diffPieces(code) {
  return code.split(/(?<=\n)/).map((text) => {
    const kind = text.startsWith("+") ? "added" : text.startsWith("-") ? "removed" : "";
    return { text, kind: text.startsWith("@@") ? "keyword" : kind };
  });
}
