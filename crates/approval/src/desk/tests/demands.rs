//! Questions of which rules demand more than the yes of one person, and what the members of a team
//! may answer.

mod model;

use std::sync::Arc;

use callgate_wire::approval::{
    Action, AllowDemands, ApprovalRequest, AskerMachine, Decision, FirstAllow, Press, RelayedAnswer,
};
use callgate_wire::desk::HiddenText;
use callgate_wire::ledger::{ChainedLinks, MemberKind, TeamMember, TeamRoster};
use serde_json::Value;

use super::super::{
    AskerId, Authority, Desk, DeskInput, DeskOutput, DeskSettings, RELAY_ORIGIN, RecordedQuestion,
    Ruling, TEAM_ORIGIN,
};
use super::cases::{Table, answer, answers, is_shown, told};
use super::checks::permission;
use super::{ADA, failed_ledger, id, request, settings};
use crate::answer_roles::{AnswerRoles, AnswerScope};
use crate::channel::{ChannelOrder, ChannelReport, Person, PersonPlace, ReplyTo};
use crate::viewer_token::token_identity;

const TWO: AllowDemands = AllowDemands { two_people: true, not_own: false };
const OTHER: AllowDemands = AllowDemands { two_people: false, not_own: true };
const BOTH: AllowDemands = AllowDemands { two_people: true, not_own: true };
const ALLOW: Press = Press::Button(Action::Allow);
const DENY: Press = Press::Button(Action::Deny);

/// The owner of the desk, at its terminal.
fn owner() -> Person {
    Person::new(PersonPlace::Terminal, "Olga")
}

/// The owner on a phone.
fn owner_phone() -> Person {
    super::ada()
}

/// A member at a page, under a name that the page has chosen.
fn at_page(member: &str) -> Person {
    let number = member.bytes().map(u64::from).sum();
    let place = PersonPlace::Viewer { viewer: number, paired: true, process: None };
    Person { link: Some(format!("viewer/{member}")), ..Person::new(place, "A page") }
}

fn chat_of(member: &str) -> i64 {
    1_000 + member.bytes().map(i64::from).sum::<i64>()
}

/// A member on a phone, under a name that they have chosen.
fn on_phone(member: &str) -> Person {
    let chat = chat_of(member);
    Person::new(PersonPlace::Telegram { chat, user: chat, private: true }, "Phone")
}

fn member_of_kind(kind: MemberKind, owner: Option<&str>) -> TeamMember {
    let owner = owner.map(str::to_owned);
    TeamMember { kind, owner, invitation: None, token: None, has_joined: true }
}

/// The links of a team of these people and machines; each person has a page and a phone.
fn team(people: &[&str], machines: &[(&str, Option<&str>)]) -> ChainedLinks {
    let mut links = ChainedLinks { had_any: true, ..ChainedLinks::default() };
    let mut team = TeamRoster::default();
    for person in people {
        team.members.insert((*person).to_owned(), member_of_kind(MemberKind::Person, None));
        for link in [format!("viewer/{person}"), format!("chat/{}", chat_of(person))] {
            links.standing.insert(link.clone(), "A page".to_owned());
            team.people.insert(link, (*person).to_owned());
        }
    }
    for (machine, owner) in machines {
        team.members.insert((*machine).to_owned(), member_of_kind(MemberKind::Machine, *owner));
    }
    links.team = team;
    links
}

fn demanding(demands: AllowDemands) -> Ruling {
    Ruling::AtDesk { because: "asked by rule `prod`".to_owned(), needs_word: false, demands }
}

/// A question of a machine of the team.
fn of_machine(mut request: ApprovalRequest, machine: &str) -> ApprovalRequest {
    let (name, user, home) = (machine.to_owned(), "ada".to_owned(), "/home/ada".to_owned());
    request.machine = Some(AskerMachine { name, user, home });
    request
}

impl Table {
    /// A team's desk with a terminal.
    fn of_team(links: ChainedLinks) -> Self {
        let mut table = Self::with(DeskSettings { terminal: true, ..settings() });
        table.give(DeskInput::LinksRead(links));
        table
    }

    fn demand(&mut self, number: u64, request: ApprovalRequest, demands: AllowDemands) {
        let (asker, ruling) = (AskerId(number), demanding(demands));
        self.give(DeskInput::Asked { asker, request, ruling, is_replay: false });
    }

    fn press_as(&mut self, who: Person, number: u64, press: Press) -> Vec<DeskOutput> {
        let reply_to = ReplyTo::Viewer { viewer: 99, id: "1".to_owned() };
        self.press_on(None, who, number, press, reply_to)
    }

    fn outcomes_of_presses(&self) -> Vec<(String, Option<String>, String)> {
        let pressed = self.ledger.entries.iter().filter(|entry| entry.kind == "pressed");
        let outcome = |body: Value| {
            let text = |name: &str| body[name].as_str().map(str::to_owned);
            (text("by").unwrap(), text("person"), text("outcome").unwrap())
        };
        pressed.map(|entry| outcome(serde_json::from_str(&entry.body).unwrap())).collect()
    }
}

/// What the person who pressed is told: whether it counted, and the words.
fn reply(outputs: &[DeskOutput]) -> (bool, &str) {
    let reply = outputs.iter().find_map(|output| match output {
        DeskOutput::Viewer { viewer: 99, done, text, .. } => Some((*done, text.as_str())),
        _ => None,
    });
    reply.unwrap_or_else(|| panic!("nobody is told: {outputs:?}"))
}

#[test]
fn the_first_of_two_allows_is_shown_everywhere_and_the_second_decides() {
    let mut table = Table::of_team(team(&["ada", "ben"], &[("build", None)]));
    table.demand(1, of_machine(request(1, "make deploy"), "build"), TWO);
    table.give(super::cases::shown(1));
    let outputs = table.press_as(at_page("ada"), 1, ALLOW);
    assert!(answers(&outputs).is_empty(), "{outputs:?}");
    let said = "ada allowed; one more person is needed";
    assert_eq!(reply(&outputs), (false, "ada allowed; one more person is needed."));
    let is_drawn = |order: &ChannelOrder| matches!(order, ChannelOrder::Redraw { card, .. } if card.row.demand_text().as_deref() == Some(said));
    let on_phones =
        |output: &DeskOutput| matches!(output, DeskOutput::Phones(order) if is_drawn(order));
    let at_terminal =
        |output: &DeskOutput| matches!(output, DeskOutput::Terminal(order) if is_drawn(order));
    assert!(outputs.iter().any(on_phones) && outputs.iter().any(at_terminal), "{outputs:?}");
    let recorded = RecordedQuestion::from_entries(&table.ledger.of(&id(1)), None).unwrap();
    assert_eq!(recorded.card.row.allowed_by.as_deref(), Some("ada"), "what viewers are shown");

    // The same person, anywhere, is not another one.
    for again in [at_page("ada"), on_phone("ada")] {
        let outputs = table.press_as(again, 1, ALLOW);
        assert!(answers(&outputs).is_empty() && !reply(&outputs).0, "{outputs:?}");
    }
    let outputs = table.press_as(on_phone("ben"), 1, ALLOW);
    let answered = answer(&outputs).relayed.clone().unwrap();
    assert_eq!((answered.decision, &*answered.by), (Decision::Allow, "ada and ben"));
    assert_eq!(answered.met, TWO);
    assert_eq!(table.last("decided")["by"], "ada and ben");
    let ada = || ("ada".to_owned(), Some("ada".to_owned()));
    let [first, again, phone, ben] = table.outcomes_of_presses().try_into().unwrap();
    assert_eq!(first, (ada().0, ada().1, "one of two".to_owned()));
    assert_eq!(again, (ada().0, ada().1, "barred".to_owned()));
    assert_eq!(phone, again);
    assert_eq!(ben, ("ben".to_owned(), Some("ben".to_owned()), "decided".to_owned()));
}

#[test]
fn whoever_may_answer_denies_alone() {
    for demands in [TWO, OTHER, BOTH] {
        let mut table = Table::of_team(team(&["ada", "ben"], &[("build", Some("ada"))]));
        table.demand(1, of_machine(request(1, "make"), "build"), demands);
        table.press_as(at_page("ben"), 1, ALLOW);
        if demands == OTHER {
            continue;
        }
        let outputs = table.press_as(at_page("ada"), 1, DENY);
        let answered = answer(&outputs).relayed.clone().unwrap();
        assert_eq!((answered.decision, &*answered.by), (Decision::Deny, "ada"));
    }
}

#[test]
fn the_owner_is_one_person_at_all_their_places() {
    let mut table = Table::of_team(team(&["ada"], &[("build", Some("ada"))]));
    table.demand(1, of_machine(request(1, "make"), "build"), TWO);
    assert_eq!(
        reply(&table.press_as(owner(), 1, ALLOW)).1,
        "Olga allowed; one more person is needed."
    );
    let page = PersonPlace::Viewer { viewer: 3, paired: true, process: None };
    for again in [owner_phone(), Person::new(page, "ada")] {
        let outputs = table.press_as(again, 1, ALLOW);
        assert!(answers(&outputs).is_empty(), "{outputs:?}");
    }
    assert!(!answers(&table.press_as(at_page("ada"), 1, ALLOW)).is_empty());
    assert_eq!(table.last("decided")["by"], "Olga and ada");
}

#[test]
fn nobody_allows_what_their_own_machine_asks() {
    let machines = [("laptop", Some("ada")), ("ci", None)];
    let mut table = Table::of_team(team(&["ada", "ben"], &machines));
    table.demand(1, of_machine(request(1, "make"), "laptop"), OTHER);
    let outputs = table.press_as(on_phone("ada"), 1, ALLOW);
    assert!(answers(&outputs).is_empty(), "{outputs:?}");
    assert!(reply(&outputs).1.starts_with("Your own machine asks this"), "{outputs:?}");
    assert!(!answers(&table.press_as(at_page("ben"), 1, ALLOW)).is_empty());
    // What is nobody's, and what agents at the desk itself ask, is the owner's.
    table.demand(2, of_machine(request(2, "make"), "ci"), OTHER);
    table.demand(3, request(3, "make"), OTHER);
    for number in [2, 3] {
        assert!(answers(&table.press_as(owner(), number, ALLOW)).is_empty());
        assert!(!answers(&table.press_as(at_page("ada"), number, ALLOW)).is_empty());
    }
    // With both demands two others have to allow it.
    table.demand(4, of_machine(request(4, "make"), "laptop"), BOTH);
    for barred in [at_page("ada"), at_page("ben"), at_page("ada")] {
        assert!(answers(&table.press_as(barred, 4, ALLOW)).is_empty());
    }
    assert!(!answers(&table.press_as(owner(), 4, ALLOW)).is_empty());
    assert_eq!(table.last("decided")["by"], "ben and Olga");
}

#[test]
fn the_first_allow_outlives_a_restart() {
    let links = team(&["ada", "ben"], &[("build", None)]);
    let mut table = Table::of_team(links.clone());
    table.demand(1, of_machine(request(1, "make"), "build"), TWO);
    table.press_as(at_page("ada"), 1, ALLOW);
    table.restart();
    table.give(DeskInput::LinksRead(links));
    // Its machine is back, and claims that nothing is demanded any more.
    table.demand(2, of_machine(request(1, "make"), "build"), AllowDemands::default());
    assert!(answers(&table.press_as(on_phone("ada"), 1, ALLOW)).is_empty());
    let outputs = table.press_as(at_page("ben"), 1, ALLOW);
    assert_eq!(answer(&outputs).relayed.as_ref().unwrap().by, "ada and ben");
}

#[test]
fn the_allow_of_somebody_who_has_left_does_not_count() {
    let machines = [("build", None)];
    let mut table = Table::of_team(team(&["ada", "ben", "cleo"], &machines));
    table.demand(1, of_machine(request(1, "make"), "build"), TWO);
    table.press_as(at_page("ada"), 1, ALLOW);
    let outputs = table.give(DeskInput::LinksRead(team(&["ben", "cleo"], &machines)));
    let locks =
        |output: &DeskOutput| matches!(output, DeskOutput::Lock { hash, .. } if hash == "ada");
    assert!(outputs.iter().any(locks), "the page is locked at once: {outputs:?}");
    // A press that was on its way is not taken for one of the owner.
    for gone in [at_page("ada"), on_phone("ada")] {
        assert!(answers(&table.press_as(gone, 1, ALLOW)).is_empty());
        assert_eq!(table.outcomes_of_presses().last().unwrap().2, "stranger");
    }
    assert!(answers(&table.press_as(at_page("ben"), 1, ALLOW)).is_empty());
    assert!(!answers(&table.press_as(at_page("cleo"), 1, ALLOW)).is_empty());
    assert_eq!(table.last("decided")["by"], "ben and cleo");
}

#[test]
fn such_a_question_is_decided_at_the_desk_alone() {
    let mut table = Table::of_team(team(&["ada"], &[]));
    let asked = permission(1, "make deploy");
    let mut with_offer = asked.clone();
    let offer = r#"{"type":"addRules","rules":[],"behavior":"allow","destination":"session"}"#;
    with_offer.permission_suggestions =
        vec![serde_json::value::RawValue::from_string(offer.to_owned()).unwrap()];
    table.demand(1, with_offer, TWO);
    let recorded = RecordedQuestion::from_entries(&table.ledger.of(&id(1)), None).unwrap();
    assert!(recorded.card.offers.is_empty() && recorded.card.no_answer_denies);
    assert!(!recorded.card.can_edit, "both have to allow the same");
    assert_eq!(recorded.card.row.demands, TWO);
    let changed = super::edited_input(r#"{"command":"make"}"#.to_owned());
    assert!(answers(&table.press_as(at_page("ada"), 1, changed)).is_empty());
    // No answer is a no, not a prompt of the agent.
    let outputs = table.wait(301);
    let answered = answer(&outputs);
    assert_eq!(answered.decision, Decision::Deny);
    assert_eq!(
        answered.message.as_deref(),
        Some("Not allowed: nobody answered in time. Two people have to allow this.")
    );
}

#[test]
fn the_front_end_of_the_asker_does_not_allow_it() {
    let mut table = Table::of_team(team(&[], &[]));
    let mut asked = permission(1, "make");
    asked.context.get_or_insert_default().answers = Some(true);
    table.give(DeskInput::From { asker: AskerId(1), lineage: vec![42] });
    table.demand(1, asked, TWO);
    let place = PersonPlace::Viewer { viewer: 5, paired: false, process: Some(42) };
    let outputs = table.press_as(Person::new(place, "x"), 1, ALLOW);
    assert_eq!(reply(&outputs), (false, "A rule wants this decided at the desk, not here."));
    let outputs = table.press_as(Person::new(place, "x"), 1, DENY);
    assert_eq!(answer(&outputs).decision, Decision::Deny, "it may do without");
}

/// The desk of a member: its own faces deny, and the team's desk allows.
#[test]
fn at_a_members_own_desk_an_allow_waits_for_the_team() {
    let mut table = Table::with(DeskSettings { terminal: true, ..settings() });
    let mut authority = Authority { chats: [ADA].into(), ..Authority::default() };
    authority.add_relay(&HiddenText::new("0".repeat(64)));
    let settings = DeskSettings { terminal: true, ..settings() };
    table.desk = Desk::new(settings, authority, crate::telegram::is_cut_in_message);
    let above = "Two people of the team have to allow this: it waits at the team's desk.";
    let place = PersonPlace::Viewer { viewer: 4, paired: true, process: None };
    let key = token_identity(&HiddenText::new("0".repeat(64)), Some(RELAY_ORIGIN));
    let relay = || Person { link: Some(format!("viewer/{key}")), ..Person::new(place, "team") };
    let said = |met, by: &str| RelayedAnswer {
        decision: Decision::Allow,
        by: by.to_owned(),
        members: Vec::new(),
        message: None,
        offer: None,
        picks: None,
        words: None,
        edited: None,
        interrupt: false,
        met,
    };
    table.demand(1, request(1, "make"), TWO);
    for own in [owner(), owner_phone(), relay()] {
        assert_eq!(reply(&table.press_as(own, 1, ALLOW)), (false, above));
    }
    let mut relayed = |answer| {
        let reply_to = ReplyTo::Viewer { viewer: 99, id: "1".to_owned() };
        table.give(DeskInput::Answered { who: relay(), question: id(1), answer, reply_to })
    };
    for met in [AllowDemands::default(), OTHER] {
        let outputs = relayed(said(met, "ada"));
        assert!(answers(&outputs).is_empty(), "{outputs:?}");
        assert!(reply(&outputs).1.contains("update callgate there"), "{outputs:?}");
    }
    let outputs = relayed(said(BOTH, "ada and ben"));
    assert_eq!(answer(&outputs).decision, Decision::Allow);
    assert_eq!(table.last("decided")["by"], "ada and ben at team");
    table.demand(2, request(2, "make"), TWO);
    assert_eq!(answer(&table.press_as(owner(), 2, DENY)).decision, Decision::Deny);
}

/// What a desk above says of people and demands is believed of that desk alone.
#[test]
fn nobody_but_the_desk_above_says_who_has_allowed() {
    let token = |digit: &str| HiddenText::new(digit.repeat(64));
    let team_key = token_identity(&token("1"), Some(TEAM_ORIGIN));
    let answer = |decision| RelayedAnswer {
        decision,
        by: "ada and ben".to_owned(),
        message: None,
        offer: None,
        picks: None,
        words: None,
        edited: None,
        interrupt: false,
        met: BOTH,
        members: Vec::new(),
    };
    let viewer = |identity: &str| {
        let place = PersonPlace::Viewer { viewer: 4, paired: true, process: None };
        Person { link: Some(format!("viewer/{identity}")), ..Person::new(place, "x") }
    };
    let owner_token = token_identity(&token("2"), None);
    let laptop = token_identity(&token("0"), Some(RELAY_ORIGIN));
    let table = |has_team: bool| {
        let mut table = Table::with(DeskSettings { terminal: true, ..settings() });
        let mut authority =
            Authority { viewers: [owner_token.clone()].into(), ..Authority::default() };
        authority.add_relay(&token("0"));
        let settings = DeskSettings { terminal: true, ..settings() };
        table.desk = Desk::new(settings, authority, crate::telegram::is_cut_in_message);
        let token_hash = has_team.then(|| team_key.clone());
        table.give(DeskInput::TeamLine { token_hash });
        table.demand(1, request(1, "make"), TWO);
        table.ask(2, request(2, "make"));
        table.demand(3, of_machine(request(3, "make"), "box"), TWO);
        table
    };
    let bring = |table: &mut Table, who: &Person, number, decision| {
        let (who, reply_to) = (who.clone(), ReplyTo::Viewer { viewer: 99, id: "1".to_owned() });
        let answer = answer(decision);
        table.give(DeskInput::Answered { who, question: id(number), answer, reply_to })
    };
    for has_team in [false, true] {
        let mut table = table(has_team);
        // The owner's token presses, and brings no answers of others; none is brought for a
        // question of another machine, which is answered here.
        let refused = [
            (viewer(&owner_token), 1),
            (viewer(&owner_token), 2),
            (viewer(&owner_token), 3),
            (viewer(&laptop), 3),
        ];
        for (who, number) in refused {
            for decision in [Decision::Allow, Decision::Deny] {
                let outputs = bring(&mut table, &who, number, decision);
                assert!(answers(&outputs).is_empty() && !reply(&outputs).0, "{outputs:?}");
                assert_eq!(table.outcomes_of_presses().last().unwrap().2, "barred");
            }
        }
        // On a machine of a team only its desk knows the people.
        let outputs = bring(&mut table, &viewer(&laptop), 1, Decision::Allow);
        assert_eq!(answers(&outputs).is_empty(), has_team, "{outputs:?}");
        assert!(!answers(&bring(&mut table, &viewer(&laptop), 2, Decision::Allow)).is_empty());
        if has_team {
            let team = viewer(&team_key);
            assert!(!answers(&bring(&mut table, &team, 1, Decision::Allow)).is_empty());
        }
    }
    // Nobody becomes the line to the team's desk by a code.
    let mut table = table(true);
    let reply_to = || ReplyTo::Viewer { viewer: 99, id: "1".to_owned() };
    let who = viewer(&owner_token);
    let code = "AAAA2222".to_owned();
    let (is_for_page, is_first) = (false, false);
    let wanted =
        DeskInput::NewCode { code, id: id(7), who, is_for_page, is_first, reply_to: reply_to() };
    assert!(reply(&table.give(wanted)).0);
    let (code, name) = ("AAAA2222".to_owned(), "x".to_owned());
    let token_hash = token_identity(&token("3"), Some(TEAM_ORIGIN));
    let outputs =
        table.give(DeskInput::PairViewer { code, name, token_hash, reply_to: reply_to() });
    assert!(!reply(&outputs).0, "{outputs:?}");
}

/// Whatever ends such a question without people: the agent's own prompt knows nothing of the rule.
#[test]
fn no_end_of_such_a_question_is_left_to_the_agent() {
    let fell = |outputs: &[DeskOutput], why: &str| {
        let answered = answer(outputs);
        assert_eq!(answered.decision, Decision::Deny, "{outputs:?}");
        let message = answered.message.clone().unwrap();
        assert!(message.contains(why) && message.contains("Two people"), "{message}");
    };
    let asked = || {
        let mut table = Table::of_team(team(&["ada", "ben"], &[]));
        table.demand(1, permission(1, "make deploy"), TWO);
        table
    };
    fell(&asked().give(failed_ledger()), "could not be recorded");
    fell(&asked().give(DeskInput::Unrecorded(id(1))), "could not be recorded");
    // Anybody on this machine can claim that the session has ended.
    let mut end = request(9, "make");
    end.kind = callgate_wire::approval::RequestKind::Settle;
    end.context.get_or_insert_default().event = Some("SessionEnd".to_owned());
    fell(&asked().give(DeskInput::Told(end)), "not answered at the desk");
    // One that was decided by a rule stays as it was decided.
    let mut table = Table::new();
    let ruling = Ruling::Deny { because: "denied by rule `no`".to_owned() };
    let request = permission(1, "make");
    let denied = DeskInput::Asked { asker: AskerId(1), request, ruling, is_replay: false };
    drop(table.desk.handle(table.now, denied));
    let outputs = table.give(failed_ledger());
    assert_eq!(answer(&outputs).decision, Decision::Deny, "{outputs:?}");
}

/// Roles that let each person answer for the machines beside their name.
#[derive(Debug)]
struct MachineRoles(Vec<(&'static str, &'static str)>);

impl AnswerRoles for MachineRoles {
    fn covers_question(&self, member: &str, scope: &AnswerScope) -> bool {
        let machine = scope.machine.as_deref().unwrap_or("desk");
        self.0.contains(&(member, machine))
    }
}

#[test]
fn a_member_answers_what_their_roles_cover() {
    let mut table = Table::with(DeskSettings { terminal: true, ..settings() });
    let roles = MachineRoles(vec![("ada", "build"), ("ben", "desk")]);
    table.desk = table_desk(table.desk, roles);
    let links = team(&["ada", "ben"], &[("build", None)]);
    table.give(DeskInput::LinksRead(links));
    let request_there = of_machine(request(1, "make"), "build");
    let (asker, ruling) = (AskerId(1), Ruling::Ask { because: None, is_guarded: false });
    let outputs =
        table.give(DeskInput::Asked { asker, request: request_there, ruling, is_replay: false });
    let shown = outputs.iter().find_map(|output| match output {
        DeskOutput::Phones(ChannelOrder::Show { chats, .. }) => Some(chats.clone()),
        _ => None,
    });
    assert_eq!(shown.unwrap(), [-100, ADA, chat_of("ada")], "Ben's phone is left alone");
    for press in [ALLOW, DENY, Press::Words("no".to_owned())] {
        let outputs = table.press_as(at_page("ben"), 1, press);
        assert!(answers(&outputs).is_empty(), "{outputs:?}");
        assert_eq!(reply(&outputs), (false, "None of your roles lets you answer this."));
        assert_eq!(table.outcomes_of_presses().last().unwrap().2, "barred");
    }
    assert!(!answers(&table.press_as(at_page("ada"), 1, ALLOW)).is_empty());
    assert_eq!(table.last("decided")["by"], "ada", "by the name in the roster");
    table.ask(2, request(2, "make"));
    assert!(answers(&table.press_as(at_page("ada"), 2, ALLOW)).is_empty());
    assert!(
        !answers(&table.press_as(owner(), 2, ALLOW)).is_empty(),
        "the owner answers everything"
    );
}

/// A member sees in a list only what their roles cover.
#[test]
fn a_list_leaves_out_what_no_role_covers() {
    let mut table = Table::with(DeskSettings { terminal: true, ..settings() });
    table.desk = table_desk(table.desk, MachineRoles(vec![("ada", "desk")]));
    table.give(DeskInput::LinksRead(team(&["ada", "ben"], &[])));
    table.ask(1, request(1, "make"));
    let mut list = |who: Person| {
        let (name, rest) = ("pending".to_owned(), String::new());
        let reply_to = ReplyTo::Message { chat: 1, message: 9 };
        table.give(DeskInput::News(ChannelReport::Command { who, name, rest, reply_to }))
    };
    assert!(is_shown(&list(on_phone("ada"))));
    let outputs = list(on_phone("ben"));
    assert!(!is_shown(&outputs), "{outputs:?}");
    assert_eq!(told(&outputs), ["No question is open."]);
}

fn table_desk(desk: Desk, roles: MachineRoles) -> Desk {
    desk.with_roles(Some(Arc::new(roles)))
}

#[test]
fn a_member_links_and_unlinks_only_themselves() {
    let mut table = Table::of_team(team(&["ada", "ben"], &[]));
    let reply_to = || ReplyTo::Viewer { viewer: 99, id: "1".to_owned() };
    let code = |who: Person, code: &str| DeskInput::NewCode {
        code: code.to_owned(),
        id: id(77),
        who,
        is_for_page: false,
        is_first: false,
        reply_to: reply_to(),
    };
    assert!(reply(&table.give(code(at_page("ada"), "AAAA2222"))).0);
    // A code of somebody else leaves it valid.
    assert!(reply(&table.give(code(owner(), "BBBB2222"))).0);
    let place = PersonPlace::Telegram { chat: 55, user: 55, private: true };
    let (name, rest) = ("start".to_owned(), "AAAA2222".to_owned());
    let who = Person::new(place, "Olga, really");
    table.give(DeskInput::News(ChannelReport::Command { who, name, rest, reply_to: reply_to() }));
    assert_eq!(table.last("paired")["person"], "ada");
    table.demand(1, request(1, "make"), TWO);
    table.press_as(Person::new(place, "Olga, really"), 1, ALLOW);
    assert_eq!(table.last("pressed")["by"], "ada");
    assert!(answers(&table.press_as(at_page("ada"), 1, ALLOW)).is_empty(), "it is the same person");

    let unpair = |link: &str, who: Person| DeskInput::Unpair {
        link: link.to_owned(),
        id: id(78),
        who,
        reply_to: reply_to(),
    };
    let own = "Only the owner of this desk can remove the links of others.";
    assert_eq!(reply(&table.give(unpair("viewer/ben", at_page("ada")))), (false, own));
    assert!(reply(&table.give(unpair("chat/55", at_page("ada")))).0);
    assert!(reply(&table.give(unpair("viewer/ben", owner()))).0);

    // What changes the links of the desk is the owner's to answer.
    let process = PersonPlace::Viewer { viewer: 8, paired: false, process: Some(42) };
    table.give(code(Person::new(process, "x"), "CCCC2222"));
    let outputs = table.press_as(at_page("ada"), 77, ALLOW);
    assert_eq!(reply(&outputs), (false, "Only the owner of this desk can answer this."));
}

fn allow_of(member: &str) -> FirstAllow {
    FirstAllow { member: Some(member.to_owned()), name: member.to_owned() }
}

fn noted(outputs: &[DeskOutput]) -> Option<(&FirstAllow, Option<&FirstAllow>)> {
    outputs.iter().find_map(|output| match output {
        DeskOutput::FirstAllow { asker: AskerId(1), first, replaces } => {
            Some((first, replaces.as_ref()))
        }
        _ => None,
    })
}

#[test]
fn the_first_of_two_allows_may_be_given_at_another_desk_of_the_team() {
    let mut table = Table::of_team(team(&["ada", "ben"], &[("build", None)]));
    table.demand(1, of_machine(request(1, "make deploy"), "build"), TWO);
    let first = allow_of("ada");
    let outputs = table.give(DeskInput::TeamAllowed { asker: AskerId(1), first: first.clone() });
    let redrawn = |output: &DeskOutput| matches!(output, DeskOutput::Terminal(ChannelOrder::Redraw { card, .. }) if card.row.allowed_by.as_deref() == Some("ada"));
    assert!(outputs.iter().any(redrawn), "{outputs:?}");
    // It is said once, is no second allow of the same person, and outlives a restart.
    assert!(table.give(DeskInput::TeamAllowed { asker: AskerId(1), first }).is_empty());
    assert!(answers(&table.press_as(at_page("ada"), 1, ALLOW)).is_empty());
    let recorded = RecordedQuestion::from_entries(&table.ledger.of(&id(1)), None).unwrap();
    assert_eq!(recorded.card.row.allowed_by.as_deref(), Some("ada"));
    let outputs = table.press_as(at_page("ben"), 1, ALLOW);
    assert_eq!(answer(&outputs).relayed.as_ref().unwrap().by, "ada and ben");
}

#[test]
fn the_other_desks_hear_of_the_first_of_two_allows_and_who_was_slower_presses_again() {
    let mut table = Table::of_team(team(&["ada", "ben"], &[("build", None)]));
    table.demand(1, of_machine(request(1, "make deploy"), "build"), TWO);
    let outputs = table.press_as(at_page("ben"), 1, ALLOW);
    assert_eq!(noted(&outputs), Some((&allow_of("ben"), None)));
    table.give(DeskInput::TeamAllowed { asker: AskerId(1), first: allow_of("ada") });
    let outputs = table.press_as(at_page("ben"), 1, ALLOW);
    assert_eq!(answer(&outputs).relayed.as_ref().unwrap().by, "ada and ben");
    // One who may not allow it any more does not count, and is replaced.
    let mut table = Table::of_team(team(&["ada", "ben"], &[("build", None)]));
    table.demand(1, of_machine(request(1, "make deploy"), "build"), TWO);
    table.give(DeskInput::TeamAllowed { asker: AskerId(1), first: allow_of("eve") });
    let outputs = table.press_as(at_page("ben"), 1, ALLOW);
    assert_eq!(noted(&outputs), Some((&allow_of("ben"), Some(&allow_of("eve")))));
}
