//! Who plays: each agent of the demo and what it does with a message.
//!
//! A session is called after its agent and a number (`coder-3`); an agent writes to those with its own number.

use serde_json::json;
use sprag::Decision;

use super::client::{DemoClient, SendResult, agent};
use super::demo_agent::{DemoAgent, ToolCall, ToolResult, think};

/// From the one who asks to the one who is one too deep.
const CHAIN: [&str; 6] = ["director", "manager", "lead", "senior", "junior", "intern"];

/// What `session` does with a message, and what it answers.
pub(super) async fn act(client: &DemoClient, session: &str, prompt: &str) -> String {
    let mut worker = DemoAgent::new(client, session);
    think(400).await;
    let reply = match agent(session) {
        "planner" => plan(&mut worker).await,
        "coder" => code(&mut worker, prompt).await,
        "fixer" => fix(&mut worker).await,
        "tester" => stagnate(&mut worker).await,
        "coordinator" => fan_out(&worker).await,
        "researcher" => research(&mut worker, prompt).await,
        "archivist" => archive(&mut worker).await,
        "poller" => poll(&mut worker).await,
        "cleaner" => clean(&mut worker).await,
        "courier" => pass_on(&worker, prompt).await,
        "reviewer" => format!(
            "Looked at it ({} words). Fine by me.",
            prompt.split(' ').count()
        ),
        name if CHAIN.contains(&name) => delegate(&worker, prompt).await,
        name => format!("I am {name}, and have nothing to do."),
    };
    worker
        .spends(900 + length(prompt) * 4, 60 + length(&reply))
        .await;
    reply
}

fn length(text: &str) -> u32 {
    u32::try_from(text.len().min(10_000)).unwrap_or_default()
}

/// Another agent's session with the same number.
fn beside(session: &str, other: &str) -> String {
    let number = session.rsplit_once('-').map_or("1", |(_, number)| number);
    format!("{other}-{number}")
}

async fn tell(worker: &DemoAgent<'_>, other: &str, text: &str) -> Result<String, String> {
    let to = beside(worker.session, other);
    match worker.client.tell(worker.session, &to, text, true).await {
        SendResult::Reply(reply) => Ok(reply),
        SendResult::Refused(why) => Err(why),
    }
}

/// Simple delegation: one to write, one to check.
async fn plan(worker: &mut DemoAgent<'_>) -> String {
    let notes = tell(worker, "coder", "List what changed since the last release").await;
    let notes = notes.unwrap_or_else(|why| why);
    let review = tell(worker, "reviewer", &format!("Check these notes: {notes}")).await;
    format!(
        "Release notes: {notes} Review: {}",
        review.unwrap_or_else(|why| why)
    )
}

async fn code(worker: &mut DemoAgent<'_>, prompt: &str) -> String {
    let tool = |args| ToolCall {
        server: "git",
        name: "log",
        args,
    };
    let since = json!({ "since": "v2.3" });
    let found = ToolResult::good("14 commits: 5 fixes, 6 features, 3 chores");
    if worker.does(tool(since), found).await {
        format!("Done ({prompt}): 14 changes, 6 of them features.")
    } else {
        "I was stopped.".to_owned()
    }
}

/// Bounded oscillation: back and forth, with work in between, and an end.
async fn fix(worker: &mut DemoAgent<'_>) -> String {
    for (round, failing) in [(1, 7), (2, 3), (3, 0)] {
        let edit = ToolCall {
            server: "files",
            name: "edit",
            args: json!({ "path": "src/login.rs", "change": format!("attempt {round}") }),
        };
        worker
            .does(edit, ToolResult::good(format!("edited, version {round}")))
            .await;
        let test = ToolCall {
            server: "shell",
            name: "run_tests",
            args: json!({ "suite": "login" }),
        };
        worker
            .does(test, ToolResult::good(format!("{failing} of 40 failed")))
            .await;
        let ask = format!("Attempt {round}: {failing} of 40 tests fail. Is this the right way?");
        if let Err(why) = tell(worker, "reviewer", &ask).await {
            return why;
        }
    }
    "The login works again; all 40 tests pass.".to_owned()
}

/// A coder who runs the same failing test again and again, until it is blocked.
async fn stagnate(worker: &mut DemoAgent<'_>) -> String {
    for _ in 0..7 {
        let tool = ToolCall {
            server: "shell",
            name: "run_tests",
            args: json!({ "suite": "payments" }),
        };
        let failed = "assertion failed: expected 200, got 500 in test_refund_twice";
        let Some(verdict) = worker.run(tool, ToolResult::bad(failed)).await else {
            return "I was blocked: the same test fails whatever I do. It needs a person."
                .to_owned();
        };
        let pause = if verdict.decision == Decision::Allow {
            500
        } else {
            1200
        };
        think(pause).await;
    }
    "It still fails.".to_owned()
}

/// Six at once: wide, not deep.
async fn fan_out(worker: &DemoAgent<'_>) -> String {
    let topics = ["prices", "rivals", "trends", "risks", "rules", "patents"];
    let number = worker
        .session
        .rsplit_once('-')
        .map_or("1", |(_, number)| number);
    let asked = topics.iter().map(|topic| async move {
        let to = format!("researcher-{topic}-{number}");
        let ask = format!("Find out about {topic}");
        worker.client.tell(worker.session, &to, &ask, true).await
    });
    let heard = futures_util::future::join_all(asked).await;
    let answers = heard
        .iter()
        .filter(|heard| matches!(heard, SendResult::Reply(_)));
    format!("{} of {} reports are in.", answers.count(), topics.len())
}

async fn research(worker: &mut DemoAgent<'_>, prompt: &str) -> String {
    let tool = ToolCall {
        server: "web",
        name: "search",
        args: json!({ "query": prompt }),
    };
    let found = format!("{} pages about it", prompt.len());
    worker.does(tool, ToolResult::good(found.clone())).await;
    found
}

/// A batch: many writes to different places that all say "ok".
async fn archive(worker: &mut DemoAgent<'_>) -> String {
    for day in 1..=12 {
        let tool = ToolCall {
            server: "storage",
            name: "put_object",
            args: json!({ "key": format!("reports/2026-11-{day:02}.csv") }),
        };
        if !worker.does(tool, ToolResult::good("ok")).await {
            return format!("Stopped at day {day}.");
        }
    }
    "Twelve reports are archived.".to_owned()
}

/// Patient polling: waiting is no loop.
async fn poll(worker: &mut DemoAgent<'_>) -> String {
    for look in 1..=8 {
        let tool = ToolCall {
            server: "ci",
            name: "get_build_status",
            args: json!({ "build": 4711 }),
        };
        let status = if look < 8 { "running" } else { "passed" };
        if !worker.does(tool, ToolResult::good(status)).await {
            return "I was stopped while I waited.".to_owned();
        }
        if look < 8 {
            think(6_000).await;
        }
    }
    "The build passed.".to_owned()
}

/// The clean-up that deletes the same thing again and again, because it is told that it still exists.
async fn clean(worker: &mut DemoAgent<'_>) -> String {
    for _ in 0..5 {
        let tool = ToolCall {
            server: "catalog",
            name: "delete_asset",
            args: json!({ "asset_id": "fact_sales" }),
        };
        let still = ToolResult::bad("asset still exists");
        if worker.run(tool, still).await.is_none() {
            return "I was killed.".to_owned();
        }
        think(900).await;
    }
    "It is gone.".to_owned()
}

/// A slow ring: each tells the next in other words, and nobody ever stops.
async fn pass_on(worker: &DemoAgent<'_>, prompt: &str) -> String {
    think(2_600).await;
    // `courier-2b` is in the second ring and writes to `courier-2c`.
    let (ring, seat) = worker
        .session
        .split_at(worker.session.len().saturating_sub(1));
    let next = match seat {
        "a" => "b",
        "b" => "c",
        _ => "a",
    };
    let to = format!("{ring}{next}");
    let said = prompt.split(' ').find_map(|word| word.parse::<u32>().ok());
    let status = said.unwrap_or_default().saturating_add(1);
    let text = format!("Status {status} from {}: all is well.", worker.session);
    worker.client.tell(worker.session, &to, &text, false).await;
    "Passed on.".to_owned()
}

/// A deep chain: everyone knows somebody else who should do it.
async fn delegate(worker: &DemoAgent<'_>, prompt: &str) -> String {
    let own = CHAIN.iter().position(|name| *name == agent(worker.session));
    let next = own.and_then(|own| CHAIN.get(own + 1));
    match next {
        None => "I did it.".to_owned(),
        Some(next) => match tell(worker, next, prompt).await {
            Ok(reply) => reply,
            Err(why) => format!("Nobody else may be asked ({why}), so I did it myself."),
        },
    }
}
