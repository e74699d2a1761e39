//! Tools and prompts that ask back: the same request comes again with the answers, until all rounds are done.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use rmcp::model::{ClientCapabilities, ErrorData, InputRequiredResult};
use serde_json::{Map, Value, json};

/// What comes next.
pub(crate) enum Next {
    Ask(InputRequiredResult),
    Done(String),
}

/// The next round of `plan`, by what came with the request.
pub(crate) fn next(
    plan: &Value,
    request: &Value,
    can: Option<ClientCapabilities>,
) -> Result<Next, ErrorData> {
    let has_state = plan["state"] == true;
    let state = request["requestState"].as_str();
    let round = match state {
        Some(state) => opened(state).ok_or_else(|| {
            ErrorData::invalid_params("the request state is not one of ours", None)
        })?,
        None => 0,
    };
    let asked = |round: usize| plan["rounds"][round].as_object();
    let given = &request["inputResponses"];
    let is_answered = !given.is_null()
        && asked(round).is_some_and(|asked| asked.iter().all(|(key, ask)| fits(ask, &given[key])));
    let round = if is_answered { round + 1 } else { round };
    let Some(questions) = asked(round) else {
        let name = given["user_name"]["content"]["name"].as_str();
        return Ok(Next::Done(format!(
            "state-ok: Hello, {}! {given}",
            name.unwrap_or("you")
        )));
    };
    let mut questions = questions.clone();
    if plan["filtered"] == true {
        let can = serde_json::to_value(can).unwrap_or_default();
        questions.retain(|_, ask| can.get(needed(ask)).is_some_and(|it| !it.is_null()));
    }
    Ok(Next::Ask(question(
        questions,
        has_state.then(|| sealed(round)),
    )?))
}

fn question(
    questions: Map<String, Value>,
    state: Option<String>,
) -> Result<InputRequiredResult, ErrorData> {
    let mut result = json!({"resultType": "input_required", "inputRequests": questions});
    if let Some(state) = state {
        result["requestState"] = Value::from(state);
    }
    serde_json::from_value(result)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// Whether an answer is one to this question.
fn fits(ask: &Value, answer: &Value) -> bool {
    match needed(ask) {
        "roots" => answer["roots"].is_array(),
        "sampling" => answer["content"].is_object() || answer["content"].is_array(),
        _ => {
            let required = ask["params"]["requestedSchema"]["required"].as_array();
            let mut required = required.into_iter().flatten().filter_map(Value::as_str);
            required.all(|key| !answer["content"][key].is_null())
        }
    }
}

/// The capability that a question needs.
fn needed(ask: &Value) -> &'static str {
    match ask["method"].as_str() {
        Some("sampling/createMessage") => "sampling",
        Some("roots/list") => "roots",
        _ => "elicitation",
    }
}

fn sealed(round: usize) -> String {
    let mut hasher = DefaultHasher::new();
    ("a secret of this fixture", round).hash(&mut hasher);
    format!("{round}.{:016x}", hasher.finish())
}

fn opened(state: &str) -> Option<usize> {
    let round = state.split('.').next()?.parse().ok()?;
    (sealed(round) == state).then_some(round)
}
