//! Random teams, roles, demands and presses, beside an oracle that knows nothing of the desk: it
//! keeps who pressed what and when, and works out from that whether an answer was right.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use callgate_link::sync::lock;
use proptest::prelude::*;

use super::*;

const PEOPLE: [&str; 4] = ["ada", "ben", "cleo", "dora"];
/// The machines; the last is the one on which the desk runs.
const MACHINES: [&str; 3] = ["build", "laptop", "desk"];
const QUESTIONS: u64 = 3;

/// Who presses: the owner, or one of [`PEOPLE`].
type Who = Option<usize>;

#[derive(Debug, Clone, Copy)]
enum TeamAct {
    /// The next question, of this machine.
    Ask {
        machine: usize,
        demands: AllowDemands,
    },
    /// An answer, on the phone or at another place.
    Press {
        who: Who,
        question: u64,
        is_allow: bool,
        on_phone: bool,
    },
    /// A person leaves or joins.
    Membership {
        person: usize,
        is_member: bool,
    },
    /// A person gets or loses the role for a machine.
    Role {
        person: usize,
        machine: usize,
        is_covered: bool,
    },
    Restart,
    /// The disk is full for a moment.
    LedgerFails,
}

fn demands() -> impl Strategy<Value = AllowDemands> {
    (any::<bool>(), any::<bool>())
        .prop_map(|(two_people, not_own)| AllowDemands { two_people, not_own })
}

fn who() -> impl Strategy<Value = Who> {
    prop_oneof![1 => Just(None), 3 => (0..PEOPLE.len()).prop_map(Some)]
}

fn act() -> impl Strategy<Value = TeamAct> {
    let press = (who(), 1..=QUESTIONS, prop::bool::weighted(0.9), any::<bool>());
    prop_oneof![
        3 => (0..MACHINES.len(), demands()).prop_map(|(machine, demands)| TeamAct::Ask { machine, demands }),
        14 => press.prop_map(|(who, question, is_allow, on_phone)| TeamAct::Press { who, question, is_allow, on_phone }),
        1 => (0..PEOPLE.len(), prop::bool::weighted(0.6)).prop_map(|(person, is_member)| TeamAct::Membership { person, is_member }),
        1 => (0..PEOPLE.len(), 0..MACHINES.len(), any::<bool>()).prop_map(|(person, machine, is_covered)| TeamAct::Role { person, machine, is_covered }),
        1 => Just(TeamAct::Restart),
        1 => Just(TeamAct::LedgerFails),
    ]
}

/// Roles that the test changes while the desk uses them: persons and machines.
#[derive(Debug, Clone, Default)]
struct SharedRoles(Arc<Mutex<BTreeSet<(usize, usize)>>>);

impl AnswerRoles for SharedRoles {
    fn covers_question(&self, member: &str, scope: &AnswerScope) -> bool {
        let person = PEOPLE.iter().position(|name| *name == member).unwrap();
        let name = scope.machine.as_deref().unwrap_or("desk");
        let machine = MACHINES.iter().position(|machine| *machine == name).unwrap();
        lock(&self.0).contains(&(person, machine))
    }
}

/// What the oracle knows of a question.
#[derive(Debug)]
struct AskedQuestion {
    machine: usize,
    demands: AllowDemands,
    is_over: bool,
    /// The people who have allowed it when they were entitled to.
    allowed: Vec<Who>,
    /// Whether anybody has left, joined, or got another role since it was asked.
    is_disturbed: bool,
}

/// What should be true, worked out from what happened.
#[derive(Debug)]
struct Oracle {
    /// Whose each machine is.
    owners: [Who; MACHINES.len()],
    members: BTreeSet<usize>,
    roles: BTreeSet<(usize, usize)>,
    questions: BTreeMap<u64, AskedQuestion>,
}

impl Oracle {
    fn may_answer(&self, who: Who, question: &AskedQuestion) -> bool {
        match who {
            None => true,
            Some(person) => {
                self.members.contains(&person) && self.roles.contains(&(person, question.machine))
            }
        }
    }

    fn may_allow(&self, who: Who, question: &AskedQuestion) -> bool {
        let is_theirs = self.owners[question.machine] == who;
        self.may_answer(who, question) && !(question.demands.not_own && is_theirs)
    }

    /// Returns the others who have allowed a question and could allow it now.
    fn others(&self, who: Who, question: &AskedQuestion) -> Vec<Who> {
        let counts = |other: &&Who| **other != who && self.may_allow(**other, question);
        question.allowed.iter().filter(counts).copied().collect()
    }
}

struct Trial {
    table: Table,
    roles: SharedRoles,
    oracle: Oracle,
}

impl Trial {
    fn new(owners: [Who; 2], roles: BTreeSet<(usize, usize)>) -> Self {
        let shared = SharedRoles(Arc::new(Mutex::new(roles.clone())));
        let mut table = Table::with(DeskSettings { terminal: true, ..settings() });
        table.desk = table.desk.with_roles(Some(Arc::new(shared.clone())));
        let members = (0..PEOPLE.len()).collect();
        // Agents at the desk itself are the owner's.
        let owners = [owners[0], owners[1], None];
        let oracle = Oracle { owners, members, roles, questions: BTreeMap::new() };
        let mut trial = Self { table, roles: shared, oracle };
        trial.tell_links();
        trial
    }

    /// Tells the desk who belongs to the team, as the ledger would.
    fn tell_links(&mut self) {
        let people: Vec<&str> = self.oracle.members.iter().map(|at| PEOPLE[*at]).collect();
        let named = |at: usize| self.oracle.owners[at].map(|person| PEOPLE[person]);
        let machines = [(MACHINES[0], named(0)), (MACHINES[1], named(1))];
        self.table.give(DeskInput::LinksRead(team(&people, &machines)));
    }

    fn run(&mut self, act: TeamAct) -> Result<(), TestCaseError> {
        match act {
            TeamAct::Ask { machine, demands } => self.ask(machine, demands),
            TeamAct::Press { who, question, is_allow, on_phone } => {
                return self.press(who, question, is_allow, on_phone);
            }
            TeamAct::Membership { person, is_member } => {
                if is_member {
                    self.oracle.members.insert(person);
                } else {
                    self.oracle.members.remove(&person);
                }
                self.disturb();
                self.tell_links();
            }
            TeamAct::Role { person, machine, is_covered } => {
                if is_covered {
                    self.oracle.roles.insert((person, machine));
                } else {
                    self.oracle.roles.remove(&(person, machine));
                }
                lock(&self.roles.0).clone_from(&self.oracle.roles);
                self.disturb();
            }
            TeamAct::Restart => {
                self.table.restart();
                let desk = std::mem::replace(
                    &mut self.table.desk,
                    Desk::new(settings(), Authority::default(), |_| false),
                );
                self.table.desk = desk.with_roles(Some(Arc::new(self.roles.clone())));
                self.tell_links();
                self.bring_back();
            }
            TeamAct::LedgerFails => return self.fail_ledger(),
        }
        Ok(())
    }

    /// Everybody who waits is answered, and nobody is left to the prompt of their agent against a
    /// rule.
    fn fail_ledger(&mut self) -> Result<(), TestCaseError> {
        let step = self.table.desk.handle(self.table.now, failed_ledger());
        for (number, question) in &mut self.oracle.questions {
            let answered = answers(&step.outputs).into_iter().find(|(asker, _)| asker == number);
            prop_assert_eq!(answered.is_some(), !question.is_over, "{:?}", question);
            question.is_over = true;
            let Some((_, response)) = answered else { continue };
            let is_of_agent = question.machine + 1 == MACHINES.len();
            let wanted = match question.demands.non_empty() {
                Some(_) if is_of_agent => Decision::Deny,
                _ => Decision::Timeout,
            };
            prop_assert_eq!(response.decision, wanted, "{:?}", question);
        }
        Ok(())
    }

    fn disturb(&mut self) {
        for question in self.oracle.questions.values_mut() {
            question.is_disturbed = true;
        }
    }

    fn request(number: u64, machine: usize) -> ApprovalRequest {
        let asked = permission(number, "make deploy");
        if MACHINES[machine] == "desk" { asked } else { of_machine(asked, MACHINES[machine]) }
    }

    fn ask(&mut self, machine: usize, demands: AllowDemands) {
        let number = self.oracle.questions.len() as u64 + 1;
        if number > QUESTIONS {
            return;
        }
        let request = Self::request(number, machine);
        let ruling = match demands.non_empty() {
            Some(demands) => demanding(demands),
            None => Ruling::Ask { because: None, is_guarded: false },
        };
        let asker = AskerId(number);
        self.table.give(DeskInput::Asked { asker, request, ruling, is_replay: false });
        let question = AskedQuestion {
            machine,
            demands,
            is_over: false,
            allowed: Vec::new(),
            is_disturbed: false,
        };
        self.oracle.questions.insert(number, question);
    }

    /// Has the askers of open questions come back after a restart, claiming no demands.
    fn bring_back(&mut self) {
        let open = self.oracle.questions.iter().filter(|(_, question)| !question.is_over);
        let open: Vec<(u64, usize)> = open.map(|(at, question)| (*at, question.machine)).collect();
        for (number, machine) in open {
            let (request, asker) = (Self::request(number, machine), AskerId(number));
            let ruling = Ruling::Ask { because: None, is_guarded: false };
            self.table.give(DeskInput::Asked { asker, request, ruling, is_replay: false });
        }
    }

    fn press(
        &mut self,
        who: Who,
        number: u64,
        is_allow: bool,
        is_on_phone: bool,
    ) -> Result<(), TestCaseError> {
        let person = match (who, is_on_phone) {
            (None, true) => owner_phone(),
            (None, false) => owner(),
            (Some(at), true) => on_phone(PEOPLE[at]),
            (Some(at), false) => at_page(PEOPLE[at]),
        };
        let outputs = self.table.press_as(person, number, if is_allow { ALLOW } else { DENY });
        let answered = answers(&outputs).first().map(|(_, response)| response.decision);
        let Some(question) = self.oracle.questions.get(&number) else {
            prop_assert_eq!(answered, None);
            return Ok(());
        };
        let may_answer = self.oracle.may_answer(who, question);
        let may_allow = self.oracle.may_allow(who, question);
        let others = self.oracle.others(who, question);
        let is_enough = !question.demands.two_people || !others.is_empty();
        match answered {
            Some(Decision::Allow) => {
                prop_assert!(is_allow && !question.is_over && may_allow, "{who:?}: {question:?}");
                prop_assert!(is_enough, "{who:?} alone: {question:?}");
                let by = self.table.last("decided")["by"].as_str().unwrap().to_owned();
                let people = by.split(" and ").count();
                prop_assert_eq!(people, if question.demands.two_people { 2 } else { 1 }, "{}", by);
            }
            Some(Decision::Deny) => {
                prop_assert!(!is_allow && !question.is_over && may_answer, "{who:?}: {question:?}");
            }
            Some(other) => prop_assert!(false, "{other:?}"),
            None => {
                let decides = if is_allow { may_allow && is_enough } else { may_answer };
                // Who counts as the first of two is not the oracle's business once people have come
                // and gone.
                let is_sure = !is_allow || !question.demands.two_people || !question.is_disturbed;
                let is_missed = decides && is_sure && !question.is_over;
                prop_assert!(!is_missed, "{who:?} is not heard: {question:?}, {outputs:?}");
            }
        }
        let question = self.oracle.questions.get_mut(&number).unwrap();
        if answered.is_some() {
            question.is_over = true;
            self.table.give(DeskInput::Delivered(AskerId(number)));
        } else if is_allow && may_allow && !question.is_over {
            question.allowed.push(who);
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_question_is_allowed_by_too_few_people_or_by_one_who_may_not(
        owners in [who(), who()],
        roles in prop::collection::btree_set((0..PEOPLE.len(), 0..MACHINES.len()), 4..12),
        acts in prop::collection::vec(act(), 1..40),
    ) {
        let mut trial = Trial::new(owners, roles);
        for act in acts {
            trial.run(act)?;
        }
    }
}
