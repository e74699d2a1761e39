//! Everyone who hears of every record: metrics, charts, log lines, notifications.

use std::sync::Arc;
use std::time::Duration;

use sprag::{
    AnswerEvent, Decision, Event, Guard, Id, MAX_QUESTIONS, QuestionUpdate, Questions, Record,
};

use crate::activity::Activity;
use crate::approval_link::LinkSigner;
use crate::config::ServerConfig;
use crate::error::ServerError;
use crate::log_lines::LogLines;
use crate::metrics::Metrics;
use crate::notify::{Board, Notifier};
use crate::stats::Stats;

/// How long notifications that wait are still delivered when the server ends.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Who hears of every record.
#[derive(Debug)]
pub(crate) struct Watchers {
    metrics: Arc<Metrics>,
    stats: Arc<Stats>,
    activity: Arc<Activity>,
    questions: Arc<Questions>,
    lines: LogLines,
    notifier: Option<Notifier>,
}

impl Watchers {
    pub(crate) fn start(
        config: &ServerConfig,
        guard: &Guard,
        metrics: &Arc<Metrics>,
        links: Option<LinkSigner>,
    ) -> Result<Self, ServerError> {
        let clock = Arc::new(sprag::SystemClock);
        let notifier = Notifier::start(config.notify.clone(), clock, Arc::clone(metrics))?;
        let notifier = notifier.map(|notifier| notifier.with_links(links));
        let stats = Stats::new(guard.status().last_seq, guard.now());
        let activity = Activity::new(guard.status().last_seq);
        let questions = match Questions::read(guard) {
            Ok(questions) => questions,
            Err(error) => {
                tracing::warn!(target: "sprag", "open approvals are listed from now on: the log before can't be read: {error}");
                Questions::default()
            }
        };
        Ok(Self {
            questions: Arc::new(questions),
            metrics: Arc::clone(metrics),
            stats: Arc::new(stats),
            activity: Arc::new(activity),
            lines: LogLines::default(),
            notifier,
        })
    }

    pub(crate) fn stats(&self) -> &Arc<Stats> {
        &self.stats
    }

    /// What operators see of notifications.
    pub(crate) fn notifications(&self) -> Option<Board> {
        self.notifier
            .as_ref()
            .map(|notifier| notifier.board().clone())
    }

    pub(crate) fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }

    pub(crate) fn questions(&self) -> &Arc<Questions> {
        &self.questions
    }

    /// Hears of a record, and returns what the guard itself has to say to it.
    pub(crate) fn observe(&self, record: &Record) -> Option<Event> {
        let update = self.questions.observe(record);
        self.metrics.observe(record);
        self.stats.observe(record);
        self.activity.observe(record);
        let left_out = self.lines.observe(record);
        if left_out > 0 {
            self.metrics.left_out(left_out);
        }
        let is_told = record.verdict.decision != Decision::Ask || update == QuestionUpdate::Opened;
        if let (Some(notifier), true) = (&self.notifier, is_told) {
            notifier.observe(record);
        }
        match update {
            QuestionUpdate::TooMany { session, code } => {
                let why = format!("{MAX_QUESTIONS} questions are open already");
                Some(decline(session, code, &why))
            }
            QuestionUpdate::Nothing | QuestionUpdate::Opened => None,
        }
    }

    /// Hears that records were not told.
    pub(crate) fn missed(&self, records: u64) {
        self.metrics.missed(records);
        self.stats.missed(records);
        self.activity.missed();
    }

    /// The guard's own answers to questions that reached nobody: no notification could be delivered, no
    /// operator looks on, and the client can't ask either.
    pub(crate) fn unanswerable(&self) -> Vec<Event> {
        let Some(notifier) = &self.notifier else {
            return Vec::new();
        };
        let lost = notifier.undelivered().into_iter();
        let alone = |code: &Id| !self.questions.has_dialog(code) && !self.metrics.is_watched();
        lost.filter(|lost| alone(&lost.approval))
            .map(|lost| {
                let why = format!("nobody could be reached: {}", lost.why);
                decline(lost.session, lost.approval, &why)
            })
            .collect()
    }

    /// Looks at how many sessions there are, and whether a storm of lines is over.
    pub(crate) fn look(&self, guard: &Guard) {
        let now = guard.now();
        if let Ok(census) = guard.census() {
            self.stats.levels(now, census);
        }
        self.metrics.left_out(self.lines.look(now));
    }

    /// Says what is left to say.
    pub(crate) fn end(self) {
        self.lines.end();
        if let Some(notifier) = self.notifier {
            notifier.stop(LAST_WORDS);
        }
    }
}

/// The guard's own no, where nobody can be asked.
pub(crate) fn decline(session: Id, code: Id, why: &str) -> Event {
    Event::Decline(AnswerEvent::new(session, code).by("sprag").why(why))
}
