//! What happens when: scripts that come again and again at a gentle pace.
//!
//! Each round takes the next of a few sessions, so that a newcomer finds the stopped ones still there to look
//! at, and their number never grows. Before a session that was stopped is used again, the demo's operator resets it.

use std::time::Duration;

use super::client::DemoClient;
use super::demo_agent::think;

/// How many sessions each script uses in turn.
const ROUNDS: u32 = 4;

/// Who starts a script.
#[derive(Debug, Clone, Copy)]
enum StartedBy {
    User,
    Timer,
}

/// One story, told again and again.
#[derive(Debug, Clone, Copy)]
pub(super) struct DemoScript {
    /// The agent that it starts with.
    agent: &'static str,
    /// What it is asked.
    ask: &'static str,
    started_by: StartedBy,
    /// The sessions to be reset before they are used again, by what follows their round's number.
    resets: &'static [&'static str],
    first_s: u64,
    every_s: u64,
}

const fn script(agent: &'static str, ask: &'static str, first_s: u64, every_s: u64) -> DemoScript {
    DemoScript {
        agent,
        ask,
        started_by: StartedBy::User,
        resets: &[],
        first_s,
        every_s,
    }
}

/// Every script. The first seconds show a bit of everything.
pub(super) const SCRIPTS: [DemoScript; 9] = [
    script("planner", "Write the release notes for 2.4", 0, 25),
    script("poller", "Tell me when build 4711 is done", 1, 90),
    DemoScript {
        resets: &[""],
        ..script("cleaner", "Remove fact_sales from the catalogue", 3, 60)
    },
    DemoScript {
        resets: &["a", "b", "c"],
        started_by: StartedBy::Timer,
        ..script("courier", "Pass the daily status on", 4, 150)
    },
    DemoScript {
        resets: &[""],
        ..script("tester", "Make the payment tests pass", 6, 70)
    },
    script(
        "director",
        "Explain the numbers of the last quarter",
        10,
        45,
    ),
    script("coordinator", "Prepare the market report", 14, 50),
    script("fixer", "Fix the login", 18, 60),
    script("archivist", "Archive the reports of November", 22, 75),
];

impl DemoScript {
    /// Plays it for ever.
    pub(super) async fn play(self, client: DemoClient) {
        think(self.first_s * 1000).await;
        let mut every = tokio::time::interval(Duration::from_secs(self.every_s));
        every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut round = 0_u32;
        loop {
            every.tick().await;
            let number = round % ROUNDS + 1;
            if round >= ROUNDS {
                for tail in self.resets {
                    let session = format!("{}-{number}{tail}", self.agent);
                    client
                        .reset(&session, "looked into, fixed, and tried again")
                        .await;
                }
            }
            self.start(&client, number).await;
            round = round.wrapping_add(1);
        }
    }

    async fn start(&self, client: &DemoClient, number: u32) {
        // What comes of it is in the log, which is what the demo is for.
        match self.started_by {
            StartedBy::User => {
                let to = format!("{}-{number}", self.agent);
                client.ask(&to, self.ask).await;
            }
            StartedBy::Timer => {
                let to = format!("{}-{number}a", self.agent);
                client.tick(&to, self.ask).await;
            }
        }
    }
}
