//! Matches a text step by step, and goes back to the last choice when a step fails.

use super::super::budget::{CheckTooLong, FitVerdict, StepBudget};
use super::class::{CharacterSet, is_same};
use super::parse::PatternAssertion;
use super::program::{PatternProgram, ProgramStep};

/// The most bits that remember which steps have failed, which take 8 MiB. A text that needs more is
/// matched without.
const MOST_BITS: usize = 1 << 26;

pub(super) fn is_match(program: &PatternProgram, text: &str, budget: &StepBudget) -> FitVerdict {
    let mut run = PatternRun {
        program,
        text,
        budget,
        waiting: Vec::new(),
        registers: vec![None; program.registers],
        failed: FailedSteps::new(program, text),
    };
    let starts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    let most = if program.is_anchored { 1 } else { usize::MAX };
    // What has failed is remembered from one start to the next; each would cost the whole text
    // otherwise.
    for start in starts.take(most) {
        if run.match_from(0, start, None)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What is left to do when a step has failed.
enum PatternFallback {
    /// Go on with a step at a place in the text.
    Try { step: usize, at: usize },
    /// Put back what a register held.
    Restore { register: usize, held: Option<usize> },
    /// Remember that all ways from a junction have failed.
    Failed { junction: usize, at: usize },
}

/// The junctions that have failed at places in the text.
/// Each is tried once only at each place, so that the time is proportional to the length of the
/// text.
struct FailedSteps {
    bits: Vec<u64>,
    width: usize,
}

impl FailedSteps {
    fn new(program: &PatternProgram, text: &str) -> Self {
        let width = text.len() + 1;
        let bits = program.junctions.saturating_mul(width);
        let bits = if program.is_repeatable && bits <= MOST_BITS { bits } else { 0 };
        Self { bits: vec![0; bits.div_ceil(64)], width }
    }

    fn has(&self, junction: usize, at: usize) -> bool {
        let bit = junction * self.width + at;
        self.bits.get(bit / 64).is_some_and(|bits| bits >> (bit % 64) & 1 == 1)
    }

    fn add(&mut self, junction: usize, at: usize) {
        let bit = junction * self.width + at;
        if let Some(bits) = self.bits.get_mut(bit / 64) {
            *bits |= 1 << (bit % 64);
        }
    }
}

struct PatternRun<'r> {
    program: &'r PatternProgram,
    text: &'r str,
    budget: &'r StepBudget,
    /// What is left to try. It grows with the text, for which the call stack has no room.
    waiting: Vec<PatternFallback>,
    registers: Vec<Option<usize>>,
    failed: FailedSteps,
}

impl PatternRun<'_> {
    /// Returns whether the steps from `step` match at a place, and end at `end` if that is given.
    fn match_from(&mut self, step: usize, at: usize, end: Option<usize>) -> FitVerdict {
        let bottom = self.waiting.len();
        self.waiting.push(PatternFallback::Try { step, at });
        while self.waiting.len() > bottom {
            match self.waiting.pop() {
                Some(PatternFallback::Try { step, at }) if self.take_steps(step, at, end)? => {
                    // What the registers held is needed if something before this fails.
                    let is_held =
                        |it: &PatternFallback| matches!(it, PatternFallback::Restore { .. });
                    let left = self.waiting.split_off(bottom);
                    self.waiting.extend(left.into_iter().filter(is_held));
                    return Ok(true);
                }
                Some(PatternFallback::Restore { register, held }) => {
                    self.registers[register] = held;
                }
                Some(PatternFallback::Failed { junction, at }) => self.failed.add(junction, at),
                Some(PatternFallback::Try { .. }) | None => {}
            }
        }
        Ok(false)
    }

    /// Takes steps until one fails or all have matched.
    fn take_steps(&mut self, mut step: usize, mut at: usize, end: Option<usize>) -> FitVerdict {
        let program = self.program;
        loop {
            self.budget.spend(1)?;
            let next = step + 1;
            match &program.steps[step] {
                ProgramStep::Matched => return Ok(end.is_none_or(|end| end == at)),
                ProgramStep::Character(set) => {
                    match self.char_after(at).filter(|c| set.holds(*c)) {
                        Some(c) => at += c.len_utf8(),
                        None => return Ok(false),
                    }
                }
                ProgramStep::Assertion(assertion) if !self.holds(*assertion, at) => {
                    return Ok(false);
                }
                ProgramStep::Run { set, least, most, is_lazy, junction } => {
                    if !self.enter_junction(*junction, at, end) {
                        return Ok(false);
                    }
                    let ends = self.ends_of_run(set, at, *most)?;
                    let Some(ends) = ends.get(*least..) else { return Ok(false) };
                    // The last one that is pushed is tried first: the longest run, or the shortest.
                    let tries = ends.iter().map(|at| PatternFallback::Try { step: next, at: *at });
                    if *is_lazy {
                        self.waiting.extend(tries.rev());
                    } else {
                        self.waiting.extend(tries);
                    }
                    return Ok(false);
                }
                ProgramStep::Split { first, second, junction } => {
                    if !self.enter_junction(*junction, at, end) {
                        return Ok(false);
                    }
                    self.waiting.push(PatternFallback::Try { step: *second, at });
                    step = *first;
                    continue;
                }
                ProgramStep::Jump(to) => {
                    step = *to;
                    continue;
                }
                ProgramStep::Keep(register) => {
                    let held = self.registers[*register].replace(at);
                    self.waiting.push(PatternFallback::Restore { register: *register, held });
                }
                ProgramStep::Moved(register) if self.registers[*register] == Some(at) => {
                    return Ok(false);
                }
                ProgramStep::Reference { start, end, folds } => {
                    match self.match_reference(*start, *end, *folds, at)? {
                        Some(length) => at += length,
                        None => return Ok(false),
                    }
                }
                ProgramStep::Look { end, is_ahead, is_negative } => {
                    if self.match_lookaround(next, at, *is_ahead)? == *is_negative {
                        return Ok(false);
                    }
                    step = end + 1;
                    continue;
                }
                ProgramStep::Assertion(_) | ProgramStep::Moved(_) => {}
            }
            step = next;
        }
    }

    /// Returns false if all ways from a junction are known to fail. Nothing is known of steps that
    /// have to end at a certain place.
    fn enter_junction(&mut self, junction: usize, at: usize, end: Option<usize>) -> bool {
        if end.is_none() {
            if self.failed.has(junction, at) {
                return false;
            }
            self.waiting.push(PatternFallback::Failed { junction, at });
        }
        true
    }

    fn char_after(&self, at: usize) -> Option<char> {
        self.text[at..].chars().next()
    }

    fn char_before(&self, at: usize) -> Option<char> {
        self.text[..at].chars().next_back()
    }

    fn holds(&self, assertion: PatternAssertion, at: usize) -> bool {
        let is_line_end = |c: char| matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}');
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_boundary = || is_word(self.char_before(at)) != is_word(self.char_after(at));
        match assertion {
            PatternAssertion::TextStart => at == 0,
            PatternAssertion::TextEnd => at == self.text.len(),
            PatternAssertion::LineStart => self.char_before(at).is_none_or(is_line_end),
            PatternAssertion::LineEnd => self.char_after(at).is_none_or(is_line_end),
            PatternAssertion::WordBoundary => is_boundary(),
            PatternAssertion::NoWordBoundary => !is_boundary(),
        }
    }

    /// Returns the places before and after each of the characters of a set that follow.
    fn ends_of_run(
        &self,
        set: &CharacterSet,
        mut at: usize,
        most: usize,
    ) -> Result<Vec<usize>, CheckTooLong> {
        let mut ends = vec![at];
        for c in self.text[at..].chars().take(most).take_while(|c| set.holds(*c)) {
            at += c.len_utf8();
            ends.push(at);
        }
        self.budget.spend(ends.len())?;
        Ok(ends)
    }

    /// Returns the length of the text of a group if it follows once more. A group that has not
    /// matched has no text.
    fn match_reference(
        &self,
        start: usize,
        end: usize,
        folds: bool,
        at: usize,
    ) -> Result<Option<usize>, CheckTooLong> {
        let (Some(start), Some(end)) = (self.registers[start], self.registers[end]) else {
            return Ok(Some(0));
        };
        let kept = self.text.get(start..end).unwrap_or_default();
        self.budget.spend(kept.len())?;
        let mut rest = self.text[at..].chars();
        let mut length = 0;
        for c in kept.chars() {
            match rest.next().filter(|other| is_same(c, *other, folds)) {
                Some(other) => length += other.len_utf8(),
                None => return Ok(None),
            }
        }
        Ok(Some(length))
    }

    fn match_lookaround(&mut self, step: usize, at: usize, is_ahead: bool) -> FitVerdict {
        if is_ahead {
            return self.match_from(step, at, None);
        }
        let text = self.text;
        // Steps match forwards only, so every place before this one could be the start.
        for start in text[..at].char_indices().map(|(start, _)| start).chain([at]).rev() {
            if self.match_from(step, start, Some(at))? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
