//! The team's desk: machines and jobs of a team have a line to it, over TLS.

mod certificates;
mod company_accounts;
mod desk_register;
mod member_lines;
mod page_people;
mod stranger_readings;
mod team_mirror;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use callgate_approval::daemon::DeskHandle;
use callgate_approval::viewer_token::new_viewer_token;
use callgate_link::sync::lock;
use callgate_policy::TeamFile;
use callgate_relay::{LinePort, SharedLine};
use callgate_store::Sha256Hash;
use callgate_web::{DeskFuture, LinePlace, MachineDesk};
use callgate_wire::ledger::{LedgerEvent, MemberJoined, MemberKind, TeamRoster};
use callgate_wire::relay::{MachineJoined, RelayOrder};

use crate::config::Config;
use crate::machines::session::SessionHome;
use crate::team_database::DatabaseState;
use crate::team_register::MemberChange;
use member_lines::{LineOwner, MemberLines};
use team_mirror::TeamMirror;

pub(crate) use certificates::{DeskCertificates, certificate_names, reached_at};
pub(crate) use company_accounts::CompanyAccounts;
use desk_register::DeskRegister;
use stranger_readings::StrangerReadings;

/// How often the members and the rules are read again, if nobody wants it sooner. Commands wish for
/// a look at once, so this is for those that could not reach the desk.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// How often the database removes what is older than its days.
const TEND_EVERY: Duration = Duration::from_hours(1);

/// The team's desk, as its members' machines see it.
pub(crate) struct TeamDesk {
    config: Arc<Config>,
    home: SessionHome,
    register: DeskRegister,
    team_file: TeamFile,
    roster: Mutex<Arc<TeamRoster>>,
    readings: StrangerReadings,
    lines: Arc<MemberLines>,
    /// The desk at which people of the team answer.
    desk: DeskHandle,
}

impl TeamDesk {
    pub(crate) fn new(config: &Config, home: SessionHome, desk: DeskHandle) -> Arc<Self> {
        Arc::new(Self {
            config: Arc::new(config.clone()),
            register: DeskRegister::new(home.copies.clone(), home.database.clone()),
            team_file: TeamFile::beside(&config.database),
            roster: Mutex::default(),
            readings: StrangerReadings::default(),
            lines: MemberLines::new(home.clone()),
            desk,
            home,
        })
    }

    /// Follows who belongs to the team and which rules it has, for ever.
    pub(crate) async fn follow_team(self: Arc<Self>) {
        if let Some(shared) = self.home.shared.clone() {
            tokio::spawn(shared.follow_questions());
        }
        let mut wishes = self.home.board.wishes();
        let mut mirror = TeamMirror::new(&self.config, &self.home, &self.register);
        let mut last_fault = None;
        loop {
            let taken = match &mut mirror {
                Some(mirror) => mirror.take_over().await,
                None => Ok(()),
            };
            // The members are read also if nothing could be taken over, because commands change the
            // ledger, too.
            let fault = taken.and(self.read_members().await).err();
            if let Some(why) = fault.as_ref().filter(|_| fault != last_fault) {
                (self.home.warn)(&format!("the team stays as it is: {why}"));
            }
            last_fault = fault;
            self.lines.send_rules(self.read_rules());
            let news = async {
                match &mut mirror {
                    Some(mirror) => mirror.wait_for_news().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                // The board outlives this loop, so the wait cannot fail.
                _ = tokio::time::timeout(LOOK_EVERY, wishes.changed()) => {}
                () = news => {}
            }
        }
    }

    /// Removes expired entries again and again. Every desk does so, so that no single one is
    /// needed.
    pub(crate) async fn tend_database(&self) {
        let Some(database) = &self.home.database else { return std::future::pending().await };
        let mut state = database.state();
        loop {
            // The database outlives this loop, so the wait cannot fail.
            state.wait_for(|state| *state == DatabaseState::Reachable).await.ok();
            if let Err(error) = database.run(|store| store.tend_audit()).await {
                (self.home.warn)(&format!(
                    "the expired entries of the team's database cannot be removed: {error}"
                ));
            }
            tokio::time::sleep(TEND_EVERY).await;
        }
    }

    /// Reads the members, and ends the lines and the links of those who are no longer members.
    pub(crate) async fn read_members(&self) -> Result<(), String> {
        if self.set_roster(self.register.read_roster().await?) {
            self.desk.read_links().await;
        }
        Ok(())
    }

    /// Reads the members after a member was recorded.
    async fn read_joined(&self) {
        // Their invitation is used up, so they get their token whatever comes. If this fails, the
        // members are read again when they come with it.
        self.read_members().await.ok();
    }

    /// Returns true if the members are as a stranger says. Who is known does not wait for those who
    /// are not.
    async fn knows(&self, is_known: impl Fn(&TeamRoster) -> bool) -> bool {
        if is_known(&self.roster()) {
            return true;
        }
        let reading = async {
            self.register.catch_up().await;
            // Those who are known stay so.
            self.read_members().await.ok();
        };
        self.readings.read_if_stale(reading).await;
        is_known(&self.roster())
    }

    /// Returns true if something has changed.
    fn set_roster(&self, roster: TeamRoster) -> bool {
        let roster = Arc::new(roster);
        let now = self.register.now_ms();
        let token = |name: &str| roster.token_of(name, now).map(str::to_owned);
        self.lines.end_refused(token);
        let before = std::mem::replace(&mut *lock(&self.roster), Arc::clone(&roster));
        for name in before.members.keys().filter(|name| !roster.members.contains_key(*name)) {
            self.home.board.remove(name);
            self.lines.withdraw_questions(name);
        }
        before != roster
    }

    /// Returns the rules that this desk has taken, as a line.
    fn read_rules(&self) -> Option<SharedLine> {
        // Rules that cannot be read are reported where they are applied.
        let rules = self.team_file.read().ok().flatten()?;
        let bundle = rules.bundle()?.to_json();
        Some(Arc::new(RelayOrder::Rules { bundle }.to_line()))
    }

    /// Returns the name of the team, or that of its desk if it has no rules.
    fn team_name(&self) -> String {
        let rules = self.team_file.read().ok().flatten();
        let bundle = rules.as_ref().and_then(|rules| rules.bundle());
        bundle.map_or_else(|| self.home.desk_name.clone(), |bundle| bundle.team().to_owned())
    }

    /// Lets a machine join with the secret of its invitation, which is used up. Returns `None` if
    /// there is no such invitation.
    async fn let_machine_join(&self, secret: &str) -> Result<Option<MachineJoined>, String> {
        // Whether it is good is not known then.
        if let Some(why) = self.find_ailment() {
            return Err(why.to_owned());
        }
        let secret = hash_text(secret);
        // A wrong secret costs no look into the ledger.
        let is_known = |roster: &TeamRoster| {
            let invited = roster.invited(&secret, self.register.now_ms());
            invited.is_some_and(|(_, member)| member.kind == MemberKind::Machine)
        };
        if !self.knows(is_known).await {
            return Ok(None);
        }
        let token = new_viewer_token().map_err(|error| error.to_string())?;
        let token_hash = hash_text(token.reveal());
        let now = self.register.now_ms();
        let joined = self.register.change_member(move |roster| {
            // This looks once more, because another desk may have used the invitation meanwhile.
            let name = roster.invited(&secret, now)?.0.to_owned();
            let (secret, token) = (secret.clone(), Some(token_hash.clone()));
            let joined = LedgerEvent::Joined(MemberJoined { name: name.clone(), secret, token });
            Some(MemberChange { by: name.clone(), name, events: vec![joined] })
        });
        let joined = joined.await?;
        // The list is renewed here, because the machine comes back at once with its token.
        self.read_joined().await;
        let token = token.reveal().to_owned();
        Ok(joined.map(|name| MachineJoined { name, token, team: self.team_name() }))
    }

    async fn find_line_place(
        &self,
        token: &str,
        number: &str,
    ) -> Option<Result<LinePlace, &'static str>> {
        if let Some(why) = self.find_ailment() {
            return Some(Err(why));
        }
        let token = hash_text(token);
        // The result does not matter: a token that is not known has the members read once more
        // before the look below.
        self.knows(|roster| roster.holder_of_token(&token, self.register.now_ms()).is_some()).await;
        let roster = self.roster();
        let (name, member) = roster.holder_of_token(&token, self.register.now_ms())?;
        let run = (member.kind == MemberKind::Job).then(|| number.to_owned());
        let owner = LineOwner { name: name.to_owned(), run };
        if let Some(why) = self.lines.find_refusal(&owner) {
            return Some(Err(why));
        }
        let lines = Arc::clone(&self.lines);
        Some(Ok(Box::new(move |stream| {
            let port = LinePort::over_stream(stream, lines.budget());
            lines.take_line(owner, token, port);
        })))
    }

    fn roster(&self) -> Arc<TeamRoster> {
        Arc::clone(&lock(&self.roster))
    }
}

impl MachineDesk for TeamDesk {
    fn find_ailment(&self) -> Option<&'static str> {
        let database = self.home.database.as_ref()?;
        let is_reachable = *database.state().borrow() == DatabaseState::Reachable;
        if !is_reachable {
            return Some("the team's database does not answer this desk: try again later");
        }
        let is_complete = self.register.is_complete();
        (!is_complete).then_some("this desk has not read the members of the team yet")
    }

    fn join_machine<'a>(
        &'a self,
        secret: &'a str,
    ) -> DeskFuture<'a, Result<Option<MachineJoined>, String>> {
        Box::pin(self.let_machine_join(secret))
    }

    fn admit_line<'a>(
        &'a self,
        token: &'a str,
        number: &'a str,
    ) -> DeskFuture<'a, Option<Result<LinePlace, &'static str>>> {
        Box::pin(self.find_line_place(token, number))
    }
}

/// Returns the hash under which the ledger has a secret or a token.
/// A plain hash is enough, because these have 256 random bits and cannot be guessed.
pub(crate) fn hash_text(text: &str) -> String {
    Sha256Hash::hash_bytes(text.as_bytes()).to_string()
}
