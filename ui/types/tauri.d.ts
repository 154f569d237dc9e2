// What the page uses of Tauri's global object, and what the desktop shell sends and returns.

export interface Channel<T> {
  onmessage: (message: T) => void;
}

export interface Tauri {
  core: {
    invoke<T>(command: string, args?: object): Promise<T>;
    Channel: new <T>() => Channel<T>;
  };
  event: {
    listen<T>(name: string, handler: (event: { payload: T }) => void): Promise<() => void>;
  };
}

/** Why a command was refused. The status has the meaning that it has in docs/protocol/page.md. */
export interface CommandError {
  status: number;
  text: string;
}

export type Theme = "system" | "light" | "dark";

/** The answer to `shell_info`. */
export interface ShellInfo {
  version: string;
  debug: boolean;
  /** The folder in which the runtime works, if one was chosen. */
  folder: string | null;
  shortcut: string;
  /** Why the shortcut does not work, if it does not. */
  shortcut_problem: string | null;
  theme: Theme;
}

/** Files that were dropped onto the window or pasted, and why some are missing. */
export interface AttachedFiles {
  files: { name: string; mime: string; data: string; size: number }[];
  problem: string | null;
}

/** What the shell sends on its own. */
export type ShellEvent =
  | { kind: "open_question"; id: string }
  | { kind: "deny_question"; id: string }
  | { kind: "open_conversation"; id: string }
  | { kind: "open_history" }
  | { kind: "open_folder"; folder: string }
  | { kind: "shown" }
  | { kind: "dragging"; is_over: boolean }
  | ({ kind: "attach" | "paste" } & AttachedFiles)
  | { kind: "saved"; path: string | null }
  | { kind: "shortcut"; problem: string | null }
  | { kind: "status" }
  | { kind: "desk_started" }
  | { kind: "theme"; theme: Theme };

export type SettingValue = string | string[] | null;

/** A setting that the page may change. */
export interface Setting {
  key: string;
  value: SettingValue;
  /** Where the value comes from, in words. */
  origin: string;
  help: string;
  choices?: string[];
}

/** The answer to `settings_read`. */
export interface ShellSettings {
  settings: Setting[];
  /** What is wrong with the settings, if something is. */
  problems?: string[];
  has_api_key: boolean;
}

declare global {
  interface Window {
    __TAURI__?: Tauri;
  }
}
