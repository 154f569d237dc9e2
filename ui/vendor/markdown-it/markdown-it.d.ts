// What the page uses of markdown-it.
export interface Token {
  type: string;
  tag: string;
  nesting: 1 | 0 | -1;
  level: number;
  content: string;
  markup: string;
  info: string;
  hidden: boolean;
  map: [number, number] | null;
  children: Token[] | null;
  attrGet(name: string): string | null;
}
export interface InlineState {
  src: string;
  pos: number;
  posMax: number;
  push(type: string, tag: string, nesting: number): Token;
}
export interface Found {
  ok: boolean;
  pos: number;
  str: string;
}
export default class MarkdownIt {
  constructor(preset: "default", options: { html: boolean; maxNesting: number });
  validateLink: (url: string) => boolean;
  normalizeLink: (url: string) => string;
  normalizeLinkText: (url: string) => string;
  helpers: {
    parseLinkDestination(text: string, start: number, max: number): Found;
    parseLinkTitle(text: string, start: number, max: number): Found;
  };
  inline: { ruler: { at(name: string, rule: (state: InlineState, isSilent: boolean) => boolean): void } };
  disable(rules: string[]): this;
  parse(source: string, environment: { references?: Record<string, unknown> }): Token[];
}
