// The inputs and results of the runtime's tools, from runtime-tools.md, by the tools' names.

export interface RuntimeTools {
  analyze_image: {
    input: {
      path: string;
    };
    result: {
      mediaType: string;
      path: string;
      size: number;
    };
  };
  ask_user: {
    input: {
      questions: {
        header?: string;
        multiSelect?: boolean;
        options: {
          description?: string;
          label: string;
        }[];
        question: string;
      }[];
    };
    result: {
      answers: Record<string, unknown>;
    };
  };
  capture_screenshot: {
    input: {
      mode: string;
    };
    result: {
      image: Record<string, unknown>;
    };
  };
  edit_file: {
    input: {
      newText: string;
      oldText: string;
      path: string;
      replaceAll?: boolean;
    };
    result: {
      diff: string;
      note?: string;
      path: string;
      replacements: number;
    };
  };
  get_system_info: {
    input: {};
    result: {
      architecture: string;
      cpus: number | null;
      cwd: string;
      kernel: string;
      memory: {
        availableBytes: number | null;
        totalBytes: number | null;
      };
      os: string;
      programs: string[];
      roots: string[];
      time: string;
      timeZone: string | null;
    };
  };
  list_files: {
    input: {
      path?: string;
    };
    result: {
      entries: {
        name: string;
        size?: number;
        target?: string;
        type: string;
      }[];
      files: string[];
      more: number;
      path: string;
      truncated: boolean;
    };
  };
  open_in_default_app: {
    input: {
      target: string;
    };
    result: {
      target: string;
    };
  };
  read_clipboard: {
    input: {};
    result: {
      text: string;
    };
  };
  read_command: {
    input: {
      id: string;
      waitSeconds?: number;
    };
    result: {
      exitCode: number | null;
      id: string;
      output: string;
      running: boolean;
      signal?: string;
      truncated: boolean;
    };
  };
  read_file: {
    input: {
      limit?: number;
      offset?: number;
      path: string;
    };
    result: {
      content: string;
      firstLine: number;
      lastLine: number;
      more: boolean;
      path: string;
      size: number;
      totalLines: number | null;
    };
  };
  run_shell_command: {
    input: {
      args?: string[];
      command: string;
      cwd?: string;
      timeoutSeconds?: number;
    };
    result: {
      durationMs: number;
      error?: string;
      exitCode: number | null;
      signal?: string;
      stderr: string;
      stdout: string;
      timedOut: boolean;
      truncated: boolean;
    };
  };
  search_files: {
    input: {
      includeIgnored?: boolean;
      maxResults?: number;
      path?: string;
      pattern: string;
    };
    result: {
      files: string[];
      leftOutByRules: number;
      truncated: boolean;
    };
  };
  search_text: {
    input: {
      glob?: string;
      ignoreCase?: boolean;
      includeIgnored?: boolean;
      maxResults?: number;
      path?: string;
      pattern: string;
      regex?: boolean;
    };
    result: {
      leftOutByRules: number;
      matches: {
        line: number;
        path: string;
        text: string;
      }[];
      searched: number;
      truncated: boolean;
    };
  };
  start_command: {
    input: {
      args?: string[];
      command: string;
      cwd?: string;
    };
    result: {
      id: string;
    };
  };
  stop_command: {
    input: {
      id: string;
    };
    result: {
      exitCode: number | null;
      id: string;
      output: string;
      running: boolean;
      signal?: string;
      truncated: boolean;
    };
  };
  todo_write: {
    input: {
      items: {
        status: string;
        text: string;
      }[];
    };
    result: {
      items: {
        status: string;
        text: string;
      }[];
    };
  };
  write_clipboard: {
    input: {
      content: string;
    };
    result: {
      characters: number;
    };
  };
  write_file: {
    input: {
      content: string;
      path: string;
    };
    result: {
      bytes: number;
      created: boolean;
      lines: number;
      note?: string;
      path: string;
    };
  };
  write_to_command: {
    input: {
      endInput?: boolean;
      id: string;
      line?: string;
    };
    result: {
      bytes: number;
      id: string;
    };
  };
}
