//! Between the Telegram channel and the rest of the daemon.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::letter::{Letter, LetterBox};
use super::pulse::DaemonPulse;
use super::{QUEUE, Warn};
use crate::channel::{ChannelOrder, ChannelReport};
use crate::desk::DeskInput;
use crate::telegram::{self, TelegramReport};

/// Forwards the reports of the Telegram channel: to the desk, to the status, and as warnings.
pub(super) struct PhoneForwarder {
    pub(super) to_desk: LetterBox,
    pub(super) warn: Warn,
    pub(super) pulse: Arc<DaemonPulse>,
}

impl PhoneForwarder {
    /// Starts the Telegram channel and this forwarder. Returns the channel's queue of orders.
    pub(super) fn start(
        self,
        tasks: &mut tokio::task::JoinSet<()>,
        settings: telegram::BotSettings,
    ) -> mpsc::Sender<ChannelOrder> {
        let (orders_in, orders) = mpsc::channel(QUEUE);
        let (reports_in, reports) = mpsc::channel(QUEUE);
        self.pulse.phones_begin();
        tasks.spawn(telegram::run_channel(settings, orders, reports_in));
        tasks.spawn(self.forward_reports(reports));
        orders_in
    }

    async fn forward_reports(self, mut reports: mpsc::Receiver<TelegramReport>) {
        while let Some(report) = reports.recv().await {
            match report {
                TelegramReport::Heard { news, taken } => {
                    if let ChannelReport::Broken { why } = &news {
                        self.report_trouble(why);
                    }
                    self.tell_desk(news, taken).await;
                }
                TelegramReport::Works { bot } => {
                    // Before the status says so: who has read it may count on it.
                    self.tell_desk(ChannelReport::Works, None).await;
                    self.pulse.phones_work(&bot);
                    (self.warn)(&format!("Telegram works, as @{bot}"));
                }
                TelegramReport::Troubled { why } => self.report_trouble(&why),
            }
        }
    }

    async fn tell_desk(&self, news: ChannelReport, recorded: Option<oneshot::Sender<()>>) {
        let letter = Letter { input: DeskInput::News(news), recorded };
        // If the desk has ended, dropping the letter tells the poll that the news was not recorded.
        self.to_desk.send(letter).await.ok();
    }

    fn report_trouble(&self, why: &str) {
        self.pulse.phones_troubled(why);
        (self.warn)(why);
    }
}
