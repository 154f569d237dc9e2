// What the page uses of streaming-markdown.
export interface Renderer {
  data: { nodes: HTMLElement[]; index: number };
  add_token(data: Renderer["data"], type: number): void;
  end_token(data: Renderer["data"]): void;
  add_text(data: Renderer["data"], text: string): void;
  set_attr(data: Renderer["data"], type: number, value: string): void;
}
export interface Parser { readonly renderer: Renderer }
export function default_renderer(root: HTMLElement): Renderer;
export function parser(renderer: Renderer): Parser;
export function parser_write(parser: Parser, chunk: string): void;
export function parser_end(parser: Parser): void;
export const IMAGE: number;
export const LINK: number;
export const HREF: number;
export const SRC: number;
export const START: number;
