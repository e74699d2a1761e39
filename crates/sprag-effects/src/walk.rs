//! The walk through a script: every command in command position, with what it knows at that point.
//!
//! Bounded by: a [`Budget`], since functions and loops repeat; [`MAX_WRAPPERS`] programs around another one.
//! Whether a command really runs (`&&`, `if`, `exit`) is not decided: it counts.

mod effect;

use std::rc::Rc;

use sprag_core::Effects;

use crate::args::Args;
use crate::budget::{Budget, COMMAND};
use crate::expand::{Environment, Field, Value, is_known};
use crate::mount::Mounts;
use crate::reach::{Places, Site};
use crate::shell::{self, Command, Kind, List, Redirect, Simple, Word};

/// How many programs around another one are looked through.
pub(crate) const MAX_WRAPPERS: usize = 5;
/// How often the body of a `for` is walked with known values.
const MAX_ROUNDS: usize = 16;
/// How deep functions call functions.
const MAX_CALLS: usize = 8;

#[derive(Debug)]
pub(crate) struct Walker<'p> {
    pub(crate) environment: Environment,
    pub(crate) places: &'p Places,
    pub(crate) site: Site,
    /// What is done now happens in a place that is thrown away, such as a fresh container.
    pub(crate) throwaway: bool,
    /// What the command reads on its standard input, if that is known.
    pub(crate) input: Option<Field>,
    /// What the container that this runs in shares with the machine.
    pub(crate) mounts: Mounts,
    bodies: Rc<[Word]>,
    /// Texts of `trap`: they run at the end of their shell, with what is known then.
    pub(crate) on_exit: Vec<Field>,
    pub(crate) found: Effects,
    budget: Budget,
    pub(crate) wrappers: usize,
    calls: usize,
    #[cfg(test)]
    pub(crate) trace: Option<Vec<Vec<Field>>>,
}

impl<'p> Walker<'p> {
    pub(crate) fn new(places: &'p Places) -> Self {
        let mut environment = Environment::default();
        environment.folder.clone_from(&places.start);
        environment.root = places.root_text().map(Rc::from);
        Self {
            environment,
            places,
            site: Site::Local,
            throwaway: false,
            input: None,
            mounts: Mounts::default(),
            bodies: Rc::from([]),
            on_exit: Vec::new(),
            found: Effects::default(),
            budget: Budget::default(),
            wrappers: 0,
            calls: 0,
            #[cfg(test)]
            trace: None,
        }
    }

    /// Takes `bytes` from the budget; false if it is used up, and what follows is not looked at.
    pub(crate) fn spend(&mut self, bytes: usize) -> bool {
        let left = self.budget.spend(bytes);
        self.found.unparsed |= !left;
        left
    }

    /// A copy of what is known now.
    fn copied(&mut self) -> Environment {
        self.spend(self.environment.bytes());
        self.environment.clone()
    }

    /// Walks a text that a shell executes. What can't be parsed has no effects.
    pub(crate) fn text(&mut self, text: &str) {
        if !self.spend(text.len()) {
            return;
        }
        let Ok(script) = shell::parse(text) else {
            self.found.unparsed = true;
            self.found.orders_guard |= crate::guard::names_order(text);
            return;
        };
        let bodies = std::mem::replace(&mut self.bodies, script.here_documents.into());
        let traps = self.on_exit.len();
        self.list(&script.list);
        self.leave(traps);
        self.bodies = bodies;
    }

    /// Ends a shell that found `traps` texts of `trap` when it began.
    fn leave(&mut self, traps: usize) {
        for handler in self.on_exit.split_off(traps.min(self.on_exit.len())) {
            self.nested_text(&handler);
        }
    }

    /// Walks `text` as one more program around another.
    pub(crate) fn nested_text(&mut self, text: &Field) {
        if self.wrappers >= MAX_WRAPPERS {
            return;
        }
        self.wrappers += 1;
        self.text(text.raw());
        self.wrappers -= 1;
    }

    fn list(&mut self, list: &List) {
        for command in list {
            self.command(command);
        }
    }

    fn command(&mut self, command: &Command) {
        if !self.spend(COMMAND) {
            return;
        }
        let outer = self.input.clone();
        self.redirects(&command.redirects);
        match &command.kind {
            Kind::Simple(simple) => self.simple(simple),
            Kind::Pipeline(commands) => self.pipeline(commands),
            Kind::Subshell(list) => self.apart(|walker| walker.list(list)),
            Kind::Group(list) => self.list(list),
            Kind::For { name, words, body } => self.for_each(name, words.as_deref(), body),
            Kind::Branches(branches) => {
                self.branches(
                    branches
                        .iter()
                        .map(|(condition, body)| (Some(condition), body)),
                );
            }
            Kind::Case { word, arms } => {
                self.one_field(word);
                self.branches(arms.iter().map(|(_, body)| (None, body)));
            }
            Kind::Function { name, body } => self.environment.define(name, Rc::clone(body)),
            Kind::Test(words) => {
                for word in words {
                    self.one_field(word);
                }
            }
        }
        self.input = outer;
    }

    /// Walks bodies of which one may run: what differs afterwards is unknown.
    fn branches<'l>(&mut self, branches: impl Iterator<Item = (Option<&'l List>, &'l List)>) {
        let mut ends = Vec::new();
        for (condition, body) in branches {
            if let Some(condition) = condition {
                self.list(condition);
            }
            let before = self.copied();
            self.list(body);
            ends.push(std::mem::replace(&mut self.environment, before));
        }
        for end in ends {
            self.environment.merge(end);
        }
    }

    pub(crate) fn redirects(&mut self, redirects: &[Redirect]) {
        for redirect in redirects {
            match redirect {
                Redirect::File { target, writes } => {
                    let target = self.one_field(target);
                    self.redirected(&target, *writes);
                    if *writes && crate::program::is_disk(target.raw()) {
                        crate::program::format(self, "a redirection", &target);
                    }
                    if !*writes {
                        self.input = None;
                    }
                }
                Redirect::HereString(word) => self.input = Some(self.one_field(word)),
                Redirect::HereDocument(index) => {
                    let bodies = Rc::clone(&self.bodies);
                    self.input = bodies.get(*index).map(|body| self.one_field(body));
                }
            }
        }
    }

    /// Runs `walk` in an environment whose changes are thrown away afterwards.
    pub(crate) fn apart(&mut self, walk: impl FnOnce(&mut Self)) {
        let environment = self.copied();
        let traps = self.on_exit.len();
        walk(self);
        self.leave(traps);
        self.environment = environment;
    }

    fn pipeline(&mut self, commands: &List) {
        let mut piped = self.input.clone();
        for command in commands {
            let input = piped.take();
            self.apart(|walker| {
                walker.input = input;
                walker.command(command);
                piped = walker.printed(command);
            });
        }
    }

    fn for_each(&mut self, name: &str, words: Option<&[Word]>, body: &List) {
        let values = match words {
            Some(words) => self.fields(words),
            None => self
                .environment
                .arguments
                .clone()
                .unwrap_or_else(|| vec![Field::unknown()]),
        };
        // A body that nothing is left for counts all the same, like all else that may not run.
        let known = (1..=MAX_ROUNDS).contains(&values.len());
        let rounds = if known {
            values
        } else {
            vec![Field::unknown()]
        };
        for value in rounds {
            self.environment.set(name, Value::Known(vec![value]));
            self.list(body);
        }
    }

    fn simple(&mut self, simple: &Simple) {
        let argv = self.fields(&simple.words);
        if argv.is_empty() {
            for assignment in &simple.assignments {
                self.assign(assignment);
            }
            return;
        }
        if simple.assignments.is_empty() {
            self.run(&argv);
            return;
        }
        // The program sees these variables; the shell forgets them afterwards.
        let mut before = self.copied();
        for assignment in &simple.assignments {
            self.assign(assignment);
        }
        self.run(&argv);
        before.folder = std::mem::take(&mut self.environment.folder);
        self.environment = before;
    }

    /// What `$( list )` stands for; its commands are walked.
    pub(crate) fn substitution(&mut self, list: &List) -> Field {
        let mut value = Field::unknown();
        self.apart(|walker| {
            let input = walker.input.take();
            walker.list(list);
            if let [
                command @ Command {
                    kind: Kind::Simple(simple),
                    ..
                },
            ] = list.as_slice()
            {
                value = match walker.printed(command) {
                    Some(printed) => printed.without_last_lines(),
                    None => {
                        let argv = walker.fields(&simple.words);
                        crate::builtin::value_of(walker, &argv)
                    }
                };
            }
            walker.input = input;
        });
        value
    }

    /// A program with its arguments, after expansion.
    pub(crate) fn run(&mut self, argv: &[Field]) {
        if !self.spend(COMMAND) {
            return;
        }
        #[cfg(test)]
        if let Some(trace) = &mut self.trace {
            trace.push(argv.to_vec());
        }
        let Some((program, fields)) = argv.split_first() else {
            return;
        };
        let path = program.raw();
        let name = path.rsplit('/').next().unwrap_or(path);
        if !is_known(name) {
            return;
        }
        if let Some(body) = self.environment.function(path) {
            self.call(&body, fields);
            return;
        }
        let args = Args {
            program: unversioned(name.strip_suffix(".exe").unwrap_or(name)),
            fields,
        };
        crate::guard::look(self, &args);
        if crate::builtin::run(self, &args) || crate::wrapper::run(self, &args) {
            return;
        }
        if !args.is_help() {
            crate::program::run(self, &args);
        }
    }

    fn call(&mut self, body: &Command, arguments: &[Field]) {
        if self.calls >= MAX_CALLS {
            return;
        }
        self.calls += 1;
        let outer = self.environment.arguments.replace(arguments.to_vec());
        self.command(body);
        self.environment.arguments = outer;
        self.calls -= 1;
    }

    /// The program `inner` behind a wrapper.
    pub(crate) fn wrapped(&mut self, inner: &[Field]) {
        if self.wrappers >= MAX_WRAPPERS || inner.is_empty() {
            return;
        }
        self.wrappers += 1;
        self.run(inner);
        self.wrappers -= 1;
    }
}

/// `python3` of `python3.12`, `php` of `php8.3`: the name under which a program is known.
fn unversioned(name: &str) -> &str {
    for known in ["python3", "python2", "python", "ruby", "php", "perl", "lua"] {
        if let Some(version) = name.strip_prefix(known)
            && version
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.')
        {
            return known;
        }
    }
    name
}
