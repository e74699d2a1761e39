//! Lua scripts that run inside Redis. A script is sent once and then called by its digest.

use redis::{Cmd, Connection, ErrorKind, RedisResult, ServerErrorKind, Value, cmd};

/// A script with its digest.
#[derive(Debug)]
pub(super) struct LuaScript {
    text: &'static str,
    digest: String,
}

/// The keys and arguments of a call.
#[derive(Debug, Default)]
pub(super) struct ScriptInput {
    pub(super) keys: Vec<String>,
    pub(super) args: Vec<Vec<u8>>,
}

impl LuaScript {
    pub(super) fn new(text: &'static str) -> Self {
        let digest = redis::Script::new(text).get_hash().to_owned();
        Self { text, digest }
    }

    /// Runs the script. If the server does not have it, say after a restart, its text is sent.
    pub(super) fn run(
        &self,
        connection: &mut Connection,
        input: &ScriptInput,
    ) -> RedisResult<Value> {
        let answer = Self::call("EVALSHA", &self.digest, connection, input);
        match answer {
            Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                Self::call("EVAL", self.text, connection, input)
            }
            other => other,
        }
    }

    fn call(
        how: &str,
        which: &str,
        connection: &mut Connection,
        input: &ScriptInput,
    ) -> RedisResult<Value> {
        Self::filled(how, which, input).query(connection)
    }

    fn filled(how: &str, which: &str, input: &ScriptInput) -> Cmd {
        let mut command = cmd(how);
        command.arg(which).arg(input.keys.len());
        for key in &input.keys {
            command.arg(key);
        }
        for arg in &input.args {
            command.arg(arg.as_slice());
        }
        command
    }

    /// The call as a command for a pipeline. The server must have the script.
    pub(super) fn command(&self, input: &ScriptInput) -> Cmd {
        Self::filled("EVALSHA", &self.digest, input)
    }

    /// Makes sure that the server has the script.
    pub(super) fn load(&self, connection: &mut Connection) -> RedisResult<()> {
        cmd("SCRIPT").arg("LOAD").arg(self.text).exec(connection)
    }
}

impl ScriptInput {
    pub(super) fn arg(&mut self, arg: impl Into<Vec<u8>>) {
        self.args.push(arg.into());
    }

    pub(super) fn number(&mut self, number: u64) {
        self.args.push(number.to_string().into_bytes());
    }
}
