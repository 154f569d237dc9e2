//! Closes what is due, and removes what is old.

use super::rows::{self, Values};
use super::{PostgresTeamStore, statements};
use crate::TeamStore;
use crate::error::TeamResult;
use crate::limits::LONGEST_DELIVERY;
use crate::question::{
    DeliveryOutcome, QuestionChange, QuestionNote, TeamQuestion, TeamQuestionState,
};

const EXPIRED: (QuestionChange, &str) = (QuestionChange::Expired, statements::EXPIRE);

impl PostgresTeamStore {
    pub(super) fn close_due_questions(&mut self) -> TeamResult<Vec<TeamQuestion>> {
        let late = i64::try_from(LONGEST_DELIVERY.as_millis()).unwrap_or(i64::MAX);
        let lost = QuestionNote::Outcome(DeliveryOutcome::Lost);
        let mut expired = Vec::new();
        // The time and the id of the last row of each part. Rows that cannot be read stay due, and
        // would be found again for ever.
        let mut after = (i64::MIN, String::new());
        loop {
            let (due, end) = self.run(async |session| {
                let values: Values<'_> = &[&late, &after.0, &after.1];
                let found = rows::query_rows(session, statements::DUE_QUESTIONS, values).await?;
                let end = found.last().map(|row| (row.get("deadline_ms"), row.get("id")));
                Ok((rows::read_rows::<TeamQuestion>(session, &found), end))
            })?;
            let Some(end) = end else { return Ok(expired) };
            after = end;
            for TeamQuestion { id, state, .. } in due {
                let given_up = match state {
                    TeamQuestionState::Open => {
                        self.change_or_find(id.as_str(), EXPIRED, &[&id.as_str()])?
                    }
                    _ => self.note_question(&id, &lost)?,
                };
                // Somebody may have answered it at the last moment.
                expired.extend(given_up.filter(|question| !question.is_pending()));
            }
        }
    }

    pub(super) fn remove_old(&mut self) -> TeamResult<()> {
        self.run(async |session| {
            Ok(session.client.batch_execute("SELECT make_partitions()").await?)
        })?;
        // Each by itself, so that nobody waits for all of them.
        for removal in [statements::REMOVE_QUESTIONS, statements::DROP_PARTITION] {
            while self.run(async |session| {
                Ok(session.client.query_one(removal, &[]).await?.get::<_, bool>(0))
            })? {}
        }
        Ok(())
    }
}
