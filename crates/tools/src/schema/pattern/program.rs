//! Translates a parsed pattern into steps.

use super::class::CharacterSet;
use super::parse::{PatternAssertion, PatternTree};

/// The most steps of a pattern. A repetition writes its body once for each time, so nested counts
/// would multiply without limit.
const MOST_STEPS: usize = 20_000;

/// A pattern as steps. The last one is reached if it matches.
#[derive(Debug)]
pub(super) struct PatternProgram {
    pub(super) steps: Vec<ProgramStep>,
    /// How many steps can fail in more than one way, and are remembered when they have failed.
    pub(super) junctions: usize,
    /// How many places in the text are kept during a match.
    pub(super) registers: usize,
    /// Whether a step that has failed at a place in the text always fails there.
    /// With back references it also depends on what the groups have matched before.
    pub(super) is_repeatable: bool,
    /// Whether it can match only at the start of the text.
    pub(super) is_anchored: bool,
}

#[derive(Debug)]
pub(super) enum ProgramStep {
    Character(CharacterSet),
    Assertion(PatternAssertion),
    /// The same set, this many times.
    Run {
        set: CharacterSet,
        least: usize,
        most: usize,
        is_lazy: bool,
        junction: usize,
    },
    /// Goes on with one step, and with the other if that fails.
    Split {
        first: usize,
        second: usize,
        junction: usize,
    },
    Jump(usize),
    /// Keeps the place in the text.
    Keep(usize),
    /// Fails if the place in the text is still the one that was kept.
    Moved(usize),
    /// The text between the two places that were kept.
    Reference {
        start: usize,
        end: usize,
        folds: bool,
    },
    /// Goes on after `end` if the steps up to there match here, or if they do not.
    Look {
        end: usize,
        is_ahead: bool,
        is_negative: bool,
    },
    Matched,
}

impl PatternProgram {
    pub(super) fn new(tree: &PatternTree) -> Result<Self, String> {
        let mut writer = StepWriter::default();
        writer.keeps_groups = has_references(tree);
        writer.registers = if writer.keeps_groups { 2 * group_count(tree) } else { 0 };
        writer.write_tree(tree)?;
        writer.push(ProgramStep::Matched)?;
        // In a loop whose body may be empty, a step can fail only because another way of the loop
        // is still to be tried. That is no harm if the first success ends the match, but a
        // lookaround that has succeeded may be run again, and would find the step failed.
        let is_repeatable =
            !(writer.keeps_groups || writer.has_lookaround && writer.has_empty_loops);
        // An anchor in each of several branches is not recognised, which costs time only.
        let is_anchored =
            matches!(writer.steps[0], ProgramStep::Assertion(PatternAssertion::TextStart));
        let StepWriter { steps, junctions, registers, .. } = writer;
        Ok(Self { steps, junctions, registers, is_repeatable, is_anchored })
    }
}

#[derive(Default)]
struct StepWriter {
    steps: Vec<ProgramStep>,
    junctions: usize,
    registers: usize,
    /// Whether the texts of groups are referred to.
    keeps_groups: bool,
    has_lookaround: bool,
    has_empty_loops: bool,
}

impl StepWriter {
    /// Adds a step and returns its index.
    fn push(&mut self, step: ProgramStep) -> Result<usize, String> {
        if self.steps.len() == MOST_STEPS {
            return Err("it is too large".to_owned());
        }
        self.steps.push(step);
        Ok(self.steps.len() - 1)
    }

    fn add_junction(&mut self) -> usize {
        self.junctions += 1;
        self.junctions - 1
    }

    /// Adds a split whose ways are set later.
    fn push_split(&mut self) -> Result<usize, String> {
        let junction = self.add_junction();
        self.push(ProgramStep::Split { first: 0, second: 0, junction })
    }

    /// Sets where a split leads: into what follows it and past the end, or the other way round.
    fn set_split(&mut self, split: usize, into: usize, past: usize, is_lazy: bool) {
        if let ProgramStep::Split { first, second, .. } = &mut self.steps[split] {
            (*first, *second) = if is_lazy { (past, into) } else { (into, past) };
        }
    }

    fn write_tree(&mut self, tree: &PatternTree) -> Result<(), String> {
        match tree {
            PatternTree::Character(set) => self.push(ProgramStep::Character(set.clone())).map(drop),
            PatternTree::Assertion(it) => self.push(ProgramStep::Assertion(*it)).map(drop),
            PatternTree::Sequence(parts) => parts.iter().try_for_each(|part| self.write_tree(part)),
            PatternTree::Choice(branches) => self.write_choice(branches),
            PatternTree::Repeat { inner, least, most, is_lazy } => {
                self.write_repeat(inner, *least, *most, *is_lazy)
            }
            PatternTree::Group(_, inner) if !self.keeps_groups => self.write_tree(inner),
            PatternTree::Group(number, inner) => {
                self.push(ProgramStep::Keep(2 * number))?;
                self.write_tree(inner)?;
                self.push(ProgramStep::Keep(2 * number + 1)).map(drop)
            }
            PatternTree::Reference { group, folds } => {
                let (start, end) = (2 * group, 2 * group + 1);
                self.push(ProgramStep::Reference { start, end, folds: *folds }).map(drop)
            }
            PatternTree::Look { inner, is_ahead, is_negative } => {
                self.has_lookaround = true;
                let (is_ahead, is_negative) = (*is_ahead, *is_negative);
                let look = self.push(ProgramStep::Look { end: 0, is_ahead, is_negative })?;
                self.write_tree(inner)?;
                let end = self.push(ProgramStep::Matched)?;
                self.steps[look] = ProgramStep::Look { end, is_ahead, is_negative };
                Ok(())
            }
        }
    }

    fn write_choice(&mut self, branches: &[PatternTree]) -> Result<(), String> {
        let mut ends = Vec::new();
        for (at, branch) in branches.iter().enumerate() {
            if at + 1 == branches.len() {
                self.write_tree(branch)?;
                break;
            }
            let split = self.push_split()?;
            self.write_tree(branch)?;
            ends.push(self.push(ProgramStep::Jump(0))?);
            self.set_split(split, split + 1, self.steps.len(), false);
        }
        for end in ends {
            self.steps[end] = ProgramStep::Jump(self.steps.len());
        }
        Ok(())
    }

    fn write_repeat(
        &mut self,
        inner: &PatternTree,
        least: u32,
        most: Option<u32>,
        is_lazy: bool,
    ) -> Result<(), String> {
        let (least, most) = (least as usize, most.map(|most| most as usize));
        match (inner, most) {
            // Generated schemas have large counts of one set, which would be as many steps
            // otherwise.
            (PatternTree::Character(set), Some(most)) => {
                let (set, junction) = (set.clone(), self.add_junction());
                return self
                    .push(ProgramStep::Run { set, least, most, is_lazy, junction })
                    .map(drop);
            }
            (PatternTree::Character(set), None) if least > 1 => {
                let (set, junction) = (set.clone(), self.add_junction());
                self.push(ProgramStep::Run { set, least, most: least, is_lazy, junction })?;
            }
            _ => {
                for _ in 0..least {
                    self.write_tree(inner)?;
                }
            }
        }
        match most {
            None => self.any_number(inner, is_lazy),
            Some(most) => self.up_to(inner, most - least, is_lazy),
        }
    }

    fn any_number(&mut self, inner: &PatternTree, is_lazy: bool) -> Result<(), String> {
        let split = self.push_split()?;
        self.write_once(inner)?;
        self.push(ProgramStep::Jump(split))?;
        self.set_split(split, split + 1, self.steps.len(), is_lazy);
        Ok(())
    }

    fn up_to(&mut self, inner: &PatternTree, most: usize, is_lazy: bool) -> Result<(), String> {
        let mut splits = Vec::new();
        for _ in 0..most {
            splits.push(self.push_split()?);
            self.write_once(inner)?;
        }
        let past = self.steps.len();
        for split in splits {
            self.set_split(split, split + 1, past, is_lazy);
        }
        Ok(())
    }

    /// Writes the body of a repetition. A body that may be empty fails if it matches nothing,
    /// because the loop would not end otherwise.
    fn write_once(&mut self, inner: &PatternTree) -> Result<(), String> {
        if !may_be_empty(inner) {
            return self.write_tree(inner);
        }
        self.has_empty_loops = true;
        let register = self.registers;
        self.registers += 1;
        self.push(ProgramStep::Keep(register))?;
        self.write_tree(inner)?;
        self.push(ProgramStep::Moved(register)).map(drop)
    }
}

fn may_be_empty(tree: &PatternTree) -> bool {
    match tree {
        PatternTree::Character(_) => false,
        PatternTree::Assertion(_) | PatternTree::Reference { .. } | PatternTree::Look { .. } => {
            true
        }
        PatternTree::Sequence(parts) => parts.iter().all(may_be_empty),
        PatternTree::Choice(branches) => branches.iter().any(may_be_empty),
        PatternTree::Repeat { inner, least, .. } => *least == 0 || may_be_empty(inner),
        PatternTree::Group(_, inner) => may_be_empty(inner),
    }
}

fn group_count(tree: &PatternTree) -> usize {
    usize::from(matches!(tree, PatternTree::Group(..)))
        + inner_trees(tree).map(group_count).sum::<usize>()
}

fn has_references(tree: &PatternTree) -> bool {
    matches!(tree, PatternTree::Reference { .. }) || inner_trees(tree).any(has_references)
}

fn inner_trees(tree: &PatternTree) -> std::slice::Iter<'_, PatternTree> {
    match tree {
        PatternTree::Sequence(parts) | PatternTree::Choice(parts) => parts.iter(),
        PatternTree::Group(_, inner)
        | PatternTree::Repeat { inner, .. }
        | PatternTree::Look { inner, .. } => std::slice::from_ref(&**inner).iter(),
        PatternTree::Character(_) | PatternTree::Assertion(_) | PatternTree::Reference { .. } => {
            [].iter()
        }
    }
}
