//! The three shapes that settings have: groups of hooks by event, hooks by event, and a file of our own.

use jsonc_parser::ast::{Array, Object, Value};
use serde_json::{Value as Json, json};

use super::InstallError;
use super::edit::{Container, parse, put, take};
use super::hook_command::{HookCommand, HookServer, arguments, is_ours, program};
use crate::client::Client;

/// The plugin for opencode. The line below it tells it whom to ask.
const PLUGIN: &str = include_str!("opencode_plugin.js");
/// How the plugin's line begins.
const PLUGIN_LINE: &str = "const SPRAG = ";

/// One of our hooks in somebody's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledHook {
    /// The event it is for.
    pub event: String,
    /// The command.
    pub command: String,
    /// The program that it runs, or the server that it is posted to.
    pub program: String,
    /// The program's arguments, from `hook` on; none if it is posted.
    pub arguments: Option<Vec<String>>,
    /// The tools that it is called for, if not for all.
    pub matcher: Option<String>,
    /// What it sends to prove itself, where it is posted.
    pub authorization: Option<String>,
}

/// How a client's settings hold hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SettingsFormat {
    /// `{"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"command": …}]}]}}`
    Groups,
    /// `{"hooks": {"preToolUse": [{"command": …}]}}`
    Flat,
    /// The same, in a file that holds nothing else.
    Own,
    /// A program text.
    Plugin,
}

pub(super) const fn of(client: Client) -> SettingsFormat {
    match client {
        Client::Claude | Client::Codex | Client::Gemini => SettingsFormat::Groups,
        Client::Cursor => SettingsFormat::Flat,
        Client::Copilot => SettingsFormat::Own,
        Client::Opencode => SettingsFormat::Plugin,
    }
}

impl SettingsFormat {
    pub(super) fn install(
        self,
        client: Client,
        text: Option<&str>,
        line: &HookCommand,
    ) -> Result<String, InstallError> {
        match self {
            Self::Plugin => {
                if let Some(text) = text
                    && !text.is_empty()
                    && plugin_words(text).is_none()
                {
                    return Err(InstallError::Foreign);
                }
                let mut words = vec![line.binary.clone()];
                words.extend(line.words(client, None));
                let words = Json::from(words);
                Ok(format!("{PLUGIN}\n{PLUGIN_LINE}{words};\n"))
            }
            Self::Own => Ok(whole(client, line)),
            Self::Groups | Self::Flat => self.install_into(client, text, line),
        }
    }

    fn install_into(
        self,
        client: Client,
        text: Option<&str>,
        line: &HookCommand,
    ) -> Result<String, InstallError> {
        let text = text.filter(|text| !text.trim().is_empty());
        let mut text = match (text, self) {
            (Some(text), _) => text.to_owned(),
            (None, Self::Flat) => "{\n  \"version\": 1\n}\n".to_owned(),
            (None, _) => "{}\n".to_owned(),
        };
        if self.is_complete(client, &text, line)? {
            return Ok(text);
        }
        text = self.without_ours(&text, None)?;
        for event in line.events(client) {
            let entry = self.entry(client, event, line).to_string();
            text = self.add(&text, event, &entry)?;
        }
        Ok(text)
    }

    /// Whether exactly what we would write is there already.
    fn is_complete(
        self,
        client: Client,
        text: &str,
        line: &HookCommand,
    ) -> Result<bool, InstallError> {
        let found = self.installed_hooks(text)?;
        let wanted: Vec<&str> = line.events(client).collect();
        let authorization = line.server.as_ref().map(HookServer::authorization);
        let is_there = |event: &&str| {
            let command = line.command(client, event);
            found.iter().any(|found| {
                found.matcher.is_none()
                    && found.event == **event
                    && found.command == command
                    && found.authorization == authorization
            })
        };
        Ok(found.len() == wanted.len() && wanted.iter().all(is_there))
    }

    fn entry(self, client: Client, event: &str, line: &HookCommand) -> Json {
        let command = line.command(client, event);
        match client {
            Client::Gemini => {
                let hook = json!({"name": "sprag", "type": "command", "command": command, "timeout": 10_000});
                json!({"matcher": "*", "hooks": [hook]})
            }
            Client::Cursor => json!({"command": command, "timeout": 10}),
            Client::Copilot => {
                let powershell = line.powershell(client, event);
                json!({"type": "command", "bash": command, "powershell": powershell, "timeoutSec": 10})
            }
            _ => {
                let hook = match &line.server {
                    Some(server) => {
                        let headers = json!({"Authorization": server.authorization()});
                        json!({"type": "http", "url": command, "headers": headers, "timeout": 10})
                    }
                    None => json!({"type": "command", "command": command, "timeout": 10}),
                };
                if event.contains("Tool") {
                    json!({"matcher": "*", "hooks": [hook]})
                } else {
                    json!({"hooks": [hook]})
                }
            }
        }
    }

    /// `text` with an entry for `event`, and whatever must be around it.
    fn add(self, text: &str, event: &str, entry: &str) -> Result<String, InstallError> {
        let root = root(text)?;
        let Some(hooks) = member(&root, "hooks") else {
            let text = put(text, &Container::object(&root), "\"hooks\": {}");
            return self.add(&text, event, entry);
        };
        let hooks = as_object(hooks, "hooks")?;
        match member(hooks, event) {
            Some(list) => {
                let list = as_list(list, event)?;
                Ok(put(text, &Container::list(list), entry))
            }
            None => {
                let text = put(text, &Container::object(hooks), &format!("\"{event}\": []"));
                self.add(&text, event, entry)
            }
        }
    }

    pub(super) fn uninstall(
        self,
        text: &str,
        before: Option<&str>,
    ) -> Result<Option<String>, InstallError> {
        match self {
            Self::Plugin if plugin_words(text).is_none() => Err(InstallError::Foreign),
            Self::Plugin | Self::Own => Ok(None),
            Self::Groups | Self::Flat => self.without_ours(text, before).map(Some),
        }
    }

    /// `text` without our entries, and without what they leave empty and was not there `before`.
    fn without_ours(self, text: &str, before: Option<&str>) -> Result<String, InstallError> {
        let before = before.and_then(|text| root(text).ok());
        let before = before.as_ref().and_then(|root| member(root, "hooks"));
        let before = before.and_then(|hooks| hooks.as_object());
        let mut text = text.to_owned();
        while let Some(shorter) = self.without_one(&text, before)? {
            text = shorter;
        }
        Ok(text)
    }

    fn without_one(
        self,
        text: &str,
        before: Option<&Object<'_>>,
    ) -> Result<Option<String>, InstallError> {
        let root = root(text)?;
        let Some(hooks) = member(&root, "hooks") else {
            return Ok(None);
        };
        let hooks = as_object(hooks, "hooks")?;
        for (at, property) in hooks.properties.iter().enumerate() {
            let list = as_list(&property.value, property.name.as_str())?;
            let Some((index, group)) = self.first_of_ours(list) else {
                continue;
            };
            if let Some((list, index)) = group {
                return Ok(Some(take(text, &Container::list(list), index)));
            }
            let was_there =
                before.is_some_and(|hooks| member(hooks, property.name.as_str()).is_some());
            if list.elements.len() > 1 || was_there {
                return Ok(Some(take(text, &Container::list(list), index)));
            }
            if hooks.properties.len() > 1 || before.is_some() {
                return Ok(Some(take(text, &Container::object(hooks), at)));
            }
            let at = root
                .properties
                .iter()
                .position(|p| p.name.as_str() == "hooks");
            return Ok(Some(take(text, &Container::object(&root), at.unwrap_or(0))));
        }
        Ok(None)
    }

    /// The first entry in `list` that has a hook of ours; and where in a group, if others are in it too.
    fn first_of_ours<'l, 't>(
        self,
        list: &'l Array<'t>,
    ) -> Option<(usize, Option<(&'l Array<'t>, usize)>)> {
        list.elements.iter().enumerate().find_map(|(index, entry)| {
            if self != Self::Groups {
                return ours(entry).map(|_| (index, None));
            }
            let group = match member(entry.as_object()?, "hooks")? {
                Value::Array(group) => group,
                _ => return None,
            };
            let inner = group
                .elements
                .iter()
                .position(|hook| ours(hook).is_some())?;
            let shared = group.elements.len() > 1;
            Some((index, shared.then_some((group, inner))))
        })
    }

    pub(super) fn installed_hooks(self, text: &str) -> Result<Vec<InstalledHook>, InstallError> {
        if self == Self::Plugin {
            let words = plugin_words(text).ok_or(InstallError::Foreign)?;
            let program = words.first().cloned().unwrap_or_default();
            return Ok(vec![InstalledHook {
                event: "plugin".to_owned(),
                command: words.join(" "),
                program,
                arguments: words.get(1..).map(<[String]>::to_vec),
                matcher: None,
                authorization: None,
            }]);
        }
        let root = root(text)?;
        let Some(hooks) = member(&root, "hooks") else {
            return Ok(Vec::new());
        };
        let mut all = Vec::new();
        for property in &as_object(hooks, "hooks")?.properties {
            for entry in &as_list(&property.value, property.name.as_str())?.elements {
                for (command, authorization) in self.commands(entry) {
                    all.push(InstalledHook {
                        event: property.name.as_str().to_owned(),
                        program: program(&command),
                        arguments: arguments(&command),
                        matcher: narrowed(entry),
                        command,
                        authorization,
                    });
                }
            }
        }
        Ok(all)
    }

    fn commands(self, entry: &Value<'_>) -> Vec<Ours> {
        if self != Self::Groups {
            return ours(entry).into_iter().collect();
        }
        let group = entry
            .as_object()
            .and_then(|entry| member(entry, "hooks"))
            .and_then(|hooks| match hooks {
                Value::Array(group) => Some(group),
                _ => None,
            });
        let hooks = group.map(|group| group.elements.as_slice());
        hooks.unwrap_or_default().iter().filter_map(ours).collect()
    }
}

/// A file of our own.
fn whole(client: Client, line: &HookCommand) -> String {
    let hooks: serde_json::Map<String, Json> = line
        .events(client)
        .map(|event| {
            let entry = SettingsFormat::Own.entry(client, event, line);
            (event.to_owned(), json!([entry]))
        })
        .collect();
    format!("{:#}\n", json!({"version": 1, "hooks": hooks}))
}

/// A command or an address, and what is sent there as proof.
type Ours = (String, Option<String>);

/// The command of a hook, where it is ours.
fn ours(hook: &Value<'_>) -> Option<Ours> {
    let hook = hook.as_object()?;
    let text = |value: &Value<'_>| Some(value.as_string_lit()?.value.to_string());
    ["command", "bash", "url"].into_iter().find_map(|name| {
        let command = text(member(hook, name)?)?;
        let proof = || {
            text(member(
                member(hook, "headers")?.as_object()?,
                "Authorization",
            )?)
        };
        is_ours(&command).then(|| (command, proof()))
    })
}

/// The matcher of an entry, if it does not match every tool.
fn narrowed(entry: &Value<'_>) -> Option<String> {
    let matcher = member(entry.as_object()?, "matcher")?.as_string_lit()?;
    let matcher = matcher.value.to_string();
    (!matches!(matcher.as_str(), "" | "*" | ".*")).then_some(matcher)
}

/// The command line in a plugin of ours.
fn plugin_words(text: &str) -> Option<Vec<String>> {
    let line = text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix(PLUGIN_LINE))?;
    serde_json::from_str(line.strip_suffix(';')?).ok()
}

fn root(text: &str) -> Result<Object<'_>, InstallError> {
    match parse(text)? {
        Some(Value::Object(root)) => Ok(root),
        _ => Err(InstallError::Unexpected("the whole of it".to_owned())),
    }
}

fn member<'o, 't>(object: &'o Object<'t>, name: &str) -> Option<&'o Value<'t>> {
    let mut properties = object.properties.iter();
    let property = properties.find(|property| property.name.as_str() == name)?;
    Some(&property.value)
}

fn as_object<'v, 't>(value: &'v Value<'t>, name: &str) -> Result<&'v Object<'t>, InstallError> {
    value
        .as_object()
        .ok_or_else(|| InstallError::Unexpected(name.to_owned()))
}

fn as_list<'v, 't>(value: &'v Value<'t>, name: &str) -> Result<&'v Array<'t>, InstallError> {
    match value {
        Value::Array(list) => Ok(list),
        _ => Err(InstallError::Unexpected(name.to_owned())),
    }
}
