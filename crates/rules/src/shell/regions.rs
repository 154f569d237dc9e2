//! Under which conditions the commands of a line run, and what they read.
//!
//! An assignment counts for a later command only if that command cannot run without it. So every
//! part of a line that may not run, or that runs in a shell of its own, is a region, and a command
//! knows the regions in which it is.

use super::ShellCommand;

#[derive(Debug, Default)]
pub(super) struct RegionTracker {
    /// The regions of the next command, the outermost first.
    here: Vec<u32>,
    /// The last number given to a region.
    last: u32,
    statement: OpenStatement,
    frames: Vec<ControlFrame>,
}

/// The statement that is being read: everything up to the next `;`.
#[derive(Debug, Clone, Copy, Default)]
struct OpenStatement {
    /// How many regions it is in.
    base: usize,
    first: usize,
    /// The first command of the part of a pipeline that is being read.
    element: usize,
    /// How many regions the pipeline is in.
    pipeline: usize,
    /// Whether an `||` came last.
    is_after_or: bool,
    /// The command whose output the next one reads.
    feeder: Option<usize>,
    is_piped: bool,
}

/// An `if`, a loop, a `case` or a group that is open.
#[derive(Debug, Clone, Copy)]
struct ControlFrame {
    kind: ControlKind,
    statement: OpenStatement,
    /// How many regions it is in.
    base: usize,
    /// The region of a loop's body.
    body: u32,
    /// Whether a pattern of a `case` is next.
    is_at_pattern: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ControlKind {
    If,
    Loop,
    Case,
    Group,
}

/// The state outside a list that is read within another one.
#[derive(Debug)]
pub(super) struct OutsideList {
    regions: usize,
    statement: OpenStatement,
    frames: Vec<ControlFrame>,
}

impl RegionTracker {
    fn new_region(&mut self) -> u32 {
        self.last += 1;
        self.last
    }

    /// Begins a region, and returns what ends it.
    pub(super) fn enter(&mut self) -> usize {
        let outside = self.here.len();
        let region = self.new_region();
        self.here.push(region);
        outside
    }

    pub(super) fn leave(&mut self, outside: usize) {
        self.here.truncate(outside);
    }

    pub(super) fn begin_list(&mut self, commands: usize) -> OutsideList {
        let outside = OutsideList {
            regions: self.here.len(),
            statement: self.statement,
            frames: std::mem::take(&mut self.frames),
        };
        self.begin_statement(commands);
        outside
    }

    /// Ends a list; false if something in it was not closed.
    pub(super) fn end_list(&mut self, outside: OutsideList) -> bool {
        let is_closed = self.frames.is_empty();
        self.here.truncate(outside.regions);
        self.statement = outside.statement;
        self.frames = outside.frames;
        is_closed
    }

    fn begin_statement(&mut self, commands: usize) {
        let base = self.here.len();
        self.statement = OpenStatement {
            base,
            first: commands,
            element: commands,
            pipeline: base,
            ..OpenStatement::default()
        };
    }

    pub(super) fn end_statement(&mut self, commands: usize) {
        self.here.truncate(self.statement.base);
        self.begin_statement(commands);
    }

    fn next_in_list(&mut self, commands: usize, regions: usize, is_after_or: bool) {
        self.here.truncate(regions);
        let region = self.new_region();
        self.here.push(region);
        let (element, pipeline) = (commands, self.here.len());
        // A pipe feeds only the commands up to the next `&&` or `||`.
        let (feeder, is_piped) = (None, false);
        self.statement =
            OpenStatement { element, pipeline, is_after_or, feeder, is_piped, ..self.statement };
    }

    /// Continues after `&&`: only if everything before it succeeded, unless there was an `||`.
    pub(super) fn continue_after_and(&mut self, commands: usize) {
        let OpenStatement { base, pipeline, is_after_or, .. } = self.statement;
        self.next_in_list(commands, if is_after_or { base } else { pipeline }, false);
    }

    pub(super) fn continue_after_or(&mut self, commands: usize) {
        self.next_in_list(commands, self.statement.base, true);
    }

    /// Continues after `|`. Both sides are shells of their own.
    pub(super) fn continue_after_pipe(&mut self, commands: &mut [ShellCommand], depth: usize) {
        let OpenStatement { element, pipeline, .. } = self.statement;
        self.enclose(commands, element, pipeline);
        let mut whole = commands.iter().enumerate().skip(element);
        let mut at_level = whole.by_ref().filter(|(_, command)| command.level == depth);
        let feeder = at_level.next().map(|(at, _)| at);
        // If several commands precede the pipe, all of them may have written to it.
        self.statement.feeder = feeder.filter(|_| at_level.next().is_none());
        self.statement.is_piped = true;
        self.here.truncate(pipeline);
        let region = self.new_region();
        self.here.push(region);
        self.statement.element = commands.len();
    }

    /// Puts the commands of a statement that ends in `&` into a region.
    pub(super) fn enclose_background(&mut self, commands: &mut [ShellCommand]) {
        let OpenStatement { first, base, .. } = self.statement;
        self.enclose(commands, first, base);
    }

    /// Puts a region around commands that were read before: a pipe or an `&` only follows what it
    /// makes a shell of its own.
    fn enclose(&mut self, commands: &mut [ShellCommand], first: usize, at: usize) {
        let region = self.new_region();
        for command in commands.iter_mut().skip(first) {
            command.regions.insert(at.min(command.regions.len()), region);
        }
    }

    /// Notes a keyword at the beginning of a command; false if it does not belong there.
    pub(super) fn handle_keyword(&mut self, word: &str, commands: usize) -> bool {
        match word {
            "if" => self.open_frame(ControlKind::If, commands),
            "while" | "until" | "for" | "select" | "repeat" | "foreach" => {
                self.open_frame(ControlKind::Loop, commands);
            }
            "case" => self.open_frame(ControlKind::Case, commands),
            "{" => {
                self.open_frame(ControlKind::Group, commands);
                self.begin_body(commands);
            }
            "then" | "else" | "elif" | "do" => {
                if self.frames.is_empty() {
                    return false;
                }
                self.begin_body(commands);
            }
            "fi" => return self.close_frame(ControlKind::If),
            "done" | "end" => return self.close_frame(ControlKind::Loop),
            "esac" => return self.close_frame(ControlKind::Case),
            "}" => return self.close_frame(ControlKind::Group),
            _ => {}
        }
        true
    }

    fn open_frame(&mut self, kind: ControlKind, commands: usize) {
        let body = self.new_region();
        let base = self.here.len();
        let statement = self.statement;
        let OpenStatement { feeder, is_piped, .. } = statement;
        self.frames.push(ControlFrame { kind, statement, base, body, is_at_pattern: false });
        self.begin_statement(commands);
        // The condition may read what is piped into the whole statement.
        self.statement.feeder = feeder;
        self.statement.is_piped = is_piped;
    }

    /// Begins what runs only if the condition holds.
    fn begin_body(&mut self, commands: usize) {
        let Some(frame) = self.frames.last_mut() else { return };
        self.here.truncate(frame.base);
        let body = frame.body;
        // What is piped into a loop is read in its body, too.
        let is_piped = self.statement.is_piped;
        self.here.push(body);
        self.begin_statement(commands);
        self.statement.is_piped = is_piped;
        // An `else` or the next pattern is a region of its own: it does not see what this one
        // assigns.
        let next = self.new_region();
        if let Some(frame) = self.frames.last_mut() {
            frame.body = next;
        }
    }

    fn close_frame(&mut self, kind: ControlKind) -> bool {
        match self.frames.pop() {
            Some(frame) => {
                self.here.truncate(frame.base);
                self.statement = frame.statement;
                frame.kind == kind
            }
            None => false,
        }
    }

    pub(super) fn is_at_pattern(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.is_at_pattern)
    }

    /// Returns true if a `case` is open whose `in` is still to come.
    pub(super) fn awaits_in(&self) -> bool {
        self.frames
            .last()
            .is_some_and(|frame| frame.kind == ControlKind::Case && self.here.len() == frame.base)
    }

    pub(super) fn begin_patterns(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.is_at_pattern = true;
        }
    }

    /// Begins the commands of a branch, after its pattern.
    pub(super) fn begin_branch(&mut self, commands: usize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.is_at_pattern = false;
        }
        self.begin_body(commands);
    }

    /// Continues with the next pattern after `;;`.
    pub(super) fn end_branch(&mut self, commands: usize) {
        match self.frames.last_mut().filter(|frame| frame.kind == ControlKind::Case) {
            Some(frame) => frame.is_at_pattern = true,
            None => self.end_statement(commands),
        }
    }

    /// Notes the regions of a command, and which one it reads from.
    pub(super) fn place_command(&mut self, command: &mut ShellCommand, depth: usize) {
        command.regions.clone_from(&self.here);
        command.level = depth;
        // Taken, because only the first command after the pipe certainly reads it.
        command.fed_by = self.statement.feeder.take();
        command.is_piped |= self.statement.is_piped;
        let is_loop = command.words.first().and_then(|word| word.text());
        if let (Some("for" | "select" | "foreach"), Some(frame)) = (is_loop, self.frames.last()) {
            // Its variable has a value only in its body.
            command.regions.push(frame.body);
        }
    }
}
