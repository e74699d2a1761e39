//! Reading scenario files.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use sprag_core::{Event, Policy};

use super::error::{LocatedProblem, ScenarioError, ScenarioProblem};
use super::excerpt::excerpt;
use super::object_fields::ObjectFields;
use super::overall::Overall;
use sprag_core::nearest;

/// One scenario, checked: its policy is legal and its events are events.
#[derive(Debug)]
pub struct Scenario {
    /// What it shows, in a sentence.
    pub name: String,
    /// The policy it runs under.
    pub policy: Policy,
    /// What happens, in order.
    pub events: Vec<ScenarioEvent>,
    /// What must hold for the whole.
    pub overall: Overall,
}

/// One event and what it must get.
#[derive(Debug)]
pub struct ScenarioEvent {
    /// The event.
    pub event: Event,
    /// A partial match of its verdict.
    pub expect: Value,
    /// The event as it stands in the file.
    pub text: Box<str>,
}

/// Reads a scenario file. Each scenario that is wrong is told, by its first problem.
pub fn parse(bytes: &[u8]) -> Result<Vec<Scenario>, Vec<ScenarioError>> {
    parse_over(&Value::Null, bytes)
}

/// Reads a scenario file whose policies are laid over `base`: a policy as JSON, or null for none.
pub fn parse_over(base: &Value, bytes: &[u8]) -> Result<Vec<Scenario>, Vec<ScenarioError>> {
    let items = items(bytes).map_err(|problem| vec![ScenarioError::in_file(problem)])?;
    let mut scenarios = Vec::with_capacity(items.len());
    let mut errors = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let fields = read_object("a scenario", item);
        let name = fields.as_ref().ok().and_then(name_of);
        match fields
            .map_err(LocatedProblem::from)
            .and_then(|fields| scenario(base, &fields))
        {
            Ok(scenario) => scenarios.push(scenario),
            Err(found) => errors.push(ScenarioError::in_scenario(at + 1, name.as_deref(), found)),
        }
    }
    if errors.is_empty() {
        Ok(scenarios)
    } else {
        Err(errors)
    }
}

fn items(bytes: &[u8]) -> Result<Vec<Box<RawValue>>, ScenarioProblem> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
        ScenarioProblem::NotUtf8 {
            line: good.iter().filter(|byte| **byte == b'\n').count() + 1,
        }
    })?;
    let raw: &RawValue = serde_json::from_str(text).map_err(ScenarioProblem::NotJson)?;
    if raw.get().starts_with('[') {
        serde_json::from_str(raw.get()).map_err(ScenarioProblem::NotJson)
    } else {
        Err(ScenarioProblem::NotAnArray)
    }
}

fn name_of(fields: &ObjectFields) -> Option<String> {
    serde_json::from_str(fields.get("name")?.get()).ok()
}

fn scenario(base: &Value, fields: &ObjectFields) -> Result<Scenario, LocatedProblem> {
    refuse_slips(fields, &["name", "policy", "events", "overall", "source"])?;
    let name = fields
        .get("name")
        .ok_or(ScenarioProblem::Missing { field: "name" })
        .and_then(|raw| read("`name`", "a text", raw))?;
    let policy = match fields.get("policy") {
        Some(raw) => read("`policy`", "an object", raw)?,
        None => Value::Object(serde_json::Map::new()),
    };
    let overall = match fields.get("overall") {
        Some(raw) => overall(&read_object("`overall`", raw)?)?,
        None => Overall::default(),
    };
    let raw_events: Vec<Box<RawValue>> = fields
        .get("events")
        .ok_or(ScenarioProblem::Missing { field: "events" })
        .and_then(|raw| read("`events`", "an array", raw))?;
    let mut events = Vec::with_capacity(raw_events.len());
    for (at, raw) in raw_events.iter().enumerate() {
        events.push(event(raw).map_err(|problem| LocatedProblem::in_event(at + 1, problem))?);
    }
    Ok(Scenario {
        name,
        policy: Policy::from_value(&laid_over(base, policy)).map_err(ScenarioProblem::Policy)?,
        events,
        overall,
    })
}

fn event(raw: &RawValue) -> Result<ScenarioEvent, ScenarioProblem> {
    let fields = read_object("an entry of `events`", raw)?;
    refuse_slips(&fields, &["event", "expect"])?;
    let text = fields
        .get("event")
        .ok_or(ScenarioProblem::Missing { field: "event" })?
        .get();
    let expect = match fields.get("expect") {
        Some(raw) => read("`expect`", "an object", raw)?,
        None => Value::Object(serde_json::Map::new()),
    };
    if !expect.is_object() {
        return Err(wrong_kind("`expect`", "an object", &expect.to_string()));
    }
    Ok(ScenarioEvent {
        event: Event::parse(text.as_bytes()).map_err(ScenarioProblem::Event)?,
        expect,
        text: text.into(),
    })
}

fn overall(fields: &ObjectFields) -> Result<Overall, ScenarioProblem> {
    let mut overall = Overall::default();
    for name in fields.names() {
        let Some(raw) = fields.get(name) else {
            continue;
        };
        let quoted = format!("`{name}`");
        let flag = || read(&quoted, "true or false", raw);
        let count = || match read(&quoted, COUNT, raw)? {
            0 => Err(wrong_kind(&quoted, COUNT, "0")),
            count => Ok(Some(count)),
        };
        match name {
            "silent" => overall.silent = flag()?,
            "no_stop" => overall.no_stop = flag()?,
            "warn_by" => overall.warn_by = count()?,
            "stop_by" => overall.stop_by = count()?,
            "not_before" => overall.not_before = count()?,
            other => {
                return Err(ScenarioProblem::UnknownDemand {
                    field: other.to_owned(),
                });
            }
        }
    }
    Ok(overall)
}

const COUNT: &str = "the number of an event, counted from 1";

/// A policy laid over another: objects field by field, lists of overrides one after the other.
fn laid_over(base: &Value, over: Value) -> Value {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            let mut merged = base.clone();
            for (name, value) in over {
                let value = match (merged.remove(&name), value) {
                    (Some(Value::Array(mut first)), Value::Array(then)) if name == "override" => {
                        first.extend(then);
                        Value::Array(first)
                    }
                    (Some(held), value) => laid_over(&held, value),
                    (None, value) => value,
                };
                merged.insert(name, value);
            }
            Value::Object(merged)
        }
        (_, over) => over,
    }
}

/// A field that is nearly one of `known` is a slip; others are the author's own notes.
fn refuse_slips(fields: &ObjectFields, known: &[&'static str]) -> Result<(), ScenarioProblem> {
    for name in fields.names() {
        if let Some(meant) = nearest(name, known.iter().copied())
            && meant != name
        {
            return Err(ScenarioProblem::Misspelt {
                field: name.to_owned(),
                meant,
            });
        }
    }
    Ok(())
}

fn read<T: DeserializeOwned>(
    what: &str,
    wanted: &'static str,
    raw: &RawValue,
) -> Result<T, ScenarioProblem> {
    serde_json::from_str(raw.get()).map_err(|error| {
        if error.is_data() {
            wrong_kind(what, wanted, raw.get())
        } else {
            unreadable(what, &error)
        }
    })
}

fn read_object(what: &str, raw: &RawValue) -> Result<ObjectFields, ScenarioProblem> {
    if raw.get().starts_with('{') {
        serde_json::from_str(raw.get()).map_err(|error| unreadable(what, &error))
    } else {
        Err(wrong_kind(what, "an object", raw.get()))
    }
}

fn unreadable(what: &str, error: &serde_json::Error) -> ScenarioProblem {
    let why = error.to_string();
    // The position is within this value, not within the file, and would mislead.
    let why = why.split(" at line ").next().unwrap_or_default().to_owned();
    ScenarioProblem::Unreadable {
        what: what.to_owned(),
        why,
    }
}

fn wrong_kind(what: &str, wanted: &'static str, got: &str) -> ScenarioProblem {
    ScenarioProblem::WrongKind {
        what: what.to_owned(),
        wanted,
        got: excerpt(got, 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn errors(text: &str) -> String {
        let errors = parse(text.as_bytes()).expect_err("the file is wrong");
        let lines: Vec<_> = errors.iter().map(ToString::to_string).collect();
        lines.join("\n")
    }

    #[test]
    fn a_scenario_needs_only_a_name_and_events() {
        let scenarios = parse(
            br#"[{"name": "a", "events": [{"event": {"type": "call", "session": "s", "tool": "t"}}], "source": "x", "note": 1}]"#,
        )
        .unwrap();
        assert_eq!(scenarios[0].name, "a");
        assert_eq!(scenarios[0].events[0].expect, json!({}));
        assert_eq!(scenarios[0].overall, Overall::default());
    }

    #[test]
    fn a_file_that_is_no_array_is_told_the_format() {
        insta::assert_snapshot!(errors(r#"{"pairs": []}"#), @r#"a scenario file is an array of scenarios: [{"name": …, "policy": {…}, "events": […], "overall": {…}}]"#);
        insta::assert_snapshot!(errors("[{]"), @"this is not JSON: key must be a string at line 1 column 3");
        insta::assert_snapshot!(errors(""), @"this is not JSON: EOF while parsing a value at line 1 column 0");
    }

    #[test]
    fn errors_name_scenario_event_and_what_is_wrong() {
        insta::assert_snapshot!(errors(r#"[
            7,
            {"events": []},
            {"name": "no events"},
            {"name": 5, "events": []},
            {"name": "a slip", "evens": []},
            {"name": "a slip in an event", "events": [{"event": {"type": "call", "session": "s", "tool": "t"}, "expct": {}}]},
            {"name": "twice", "name": "twice", "events": []},
            {"name": "no event", "events": [{"expect": {}}]},
            {"name": "bad event", "events": [{"event": {"type": "call", "session": "s", "tool": "t"}}, {"event": {"type": "cal"}}]},
            {"name": "bad expect", "events": [{"event": {"type": "call", "session": "s", "tool": "t"}, "expect": "deny"}]},
            {"name": "bad overall", "events": [], "overall": {"silently": true}},
            {"name": "bad count", "events": [], "overall": {"warn_by": 0}},
            {"name": "bad count", "events": [], "overall": {"stop_by": -1}},
            {"name": "overall is text", "events": [], "overall": "silent"},
            {"name": "bad policy", "policy": [], "events": []}
        ]"#), @r#"
        scenario 1: a scenario must be an object, not 7
        scenario 2: the field `name` is missing
        scenario 3 "no events": the field `events` is missing
        scenario 4: `name` must be a text, not 5
        scenario 5 "a slip": there is no field `evens`; did you mean `events`?
        scenario 6 "a slip in an event", event 1: there is no field `expct`; did you mean `expect`?
        scenario 7: a scenario can't be read: the field `name` is there twice
        scenario 8 "no event", event 1: the field `event` is missing
        scenario 9 "bad event", event 2: type: unknown event type "cal"; did you mean "call"?
        scenario 10 "bad expect", event 1: `expect` must be an object, not "deny"
        scenario 11 "bad overall": `overall` knows no `silently`; it may hold silent, no_stop, warn_by, stop_by and not_before
        scenario 12 "bad count": `warn_by` must be the number of an event, counted from 1, not 0
        scenario 13 "bad count": `stop_by` must be the number of an event, counted from 1, not -1
        scenario 14 "overall is text": `overall` must be an object, not "silent"
        scenario 15 "bad policy": the policy is wrong: must be a table of sections, not a list
        "#);
    }

    #[test]
    fn broken_utf8_is_told_by_its_line() {
        let errors = parse(b"[\n{\"name\": \"\xff\"}]").expect_err("broken");
        insta::assert_snapshot!(errors[0], @"this is not UTF-8: the first bad byte is on line 2");
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_crash() {
        let deep = format!("[{}{}]", "[".repeat(100_000), "]".repeat(100_000));
        insta::assert_snapshot!(errors(&deep), @"scenario 1: a scenario must be an object, not [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[…");
        let expect = format!(
            r#"[{{"name": "deep", "events": [{{"event": {{"type": "call", "session": "s", "tool": "t"}}, "expect": {}1{}}}]}}]"#,
            r#"{"a":"#.repeat(100_000),
            "}".repeat(100_000)
        );
        insta::assert_snapshot!(errors(&expect), @r#"scenario 1 "deep", event 1: `expect` can't be read: recursion limit exceeded"#);
    }

    #[test]
    fn a_scenarios_policy_is_laid_over_the_base() {
        let base = json!({"flow": {"max_depth": 3, "max_calls": 7}, "override": [{"agent": "a"}], "access": {"deny": ["x"]}});
        let over = json!({"flow": {"max_depth": 4}, "override": [{"agent": "b"}], "access": {"deny": ["y"]}});
        assert_eq!(
            laid_over(&base, over),
            json!({"flow": {"max_depth": 4, "max_calls": 7}, "override": [{"agent": "a"}, {"agent": "b"}], "access": {"deny": ["y"]}})
        );
        assert_eq!(laid_over(&Value::Null, json!({})), json!({}));
    }
}
