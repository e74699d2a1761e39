//! Random scripts that bash accepts, in which every command is a stub.

pub(super) struct Generator {
    state: u64,
    commands: usize,
    functions: usize,
}

/// Pieces of words.
#[rustfmt::skip]
const PIECES: [&str; 53] = [
    "a",
    "b-c",
    "--opt=x",
    "'d1 ; d2'",
    "'$(d3)'",
    "\"x y\"",
    "\"$V\"",
    "\"${V}z\"",
    "$V",
    "${V}",
    "\\;",
    "\\ ",
    "\\$V",
    "\"\\\"d4\\\"\"",
    "$'a\\tb'",
    "$'it\\'s d5'",
    "{p,q}",
    "{1..3}",
    "x{a,b{c,d}}y",
    "\"{a,b}\"",
    "${V:-d6}",
    "${U:-def}",
    "\"${U:-d7 d8}\"",
    "\"${A[@]}\"",
    "${V:+alt}",
    "${V%?}",
    "\"${V%%*}\"",
    "${V##*}",
    "\"${V#'*'}\"",
    "${V%\\*}",
    "\"${V%/}\"",
    "${V#d}",
    "${U%x}",
    "${V/d/e}",
    "*.nomatch",
    "?",
    "[x]",
    "a#b",
    "~/x",
    "%",
    "@",
    "=",
    ":",
    "''",
    "\"\"",
    "'a'\"b\"c",
    "{",
    "}",
    "{}",
    "{a}",
    "\\\\",
    "é",
    "!",
];

impl Generator {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0xdead_beef_cafe_f00d,
            commands: 0,
            functions: 0,
        }
    }

    /// How many commands the script has.
    pub(super) fn commands(&self) -> usize {
        self.commands
    }

    fn below(&mut self, most: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as usize % most
    }

    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len())]
    }

    pub(super) fn script(&mut self) -> String {
        let mut text = String::from("V=val\nW='two words'\nA=(x 'y z')\n");
        for _ in 0..1 + self.below(4) {
            text.push_str(&self.statement(3));
            text.push('\n');
        }
        text
    }

    fn list(&mut self, depth: usize) -> String {
        let mut text = self.command(depth);
        for _ in 0..self.below(3) {
            let between = self.one(&["; ", " && ", " || ", "\n", " | ", " |& ", " & "]);
            text.push_str(between);
            text.push_str(&self.command(depth));
        }
        text
    }

    /// A list that may be followed by a comment or a here-document.
    fn statement(&mut self, depth: usize) -> String {
        let mut text = self.list(depth);
        match self.below(6) {
            0 => text.push_str(" # d1 'not a command"),
            1 => {
                let mark = self.one(&["EOF", "'EOF'", "\"EOF\"", "\\EOF", "-EOF", "- 'EOF'"]);
                let stub = self.stub();
                let body = self.one(&[
                    "d2 x; d3 | d4",
                    "it's $V \"d2\" d3",
                    "\\$V d4 `true`",
                    "((( d5 $W",
                    "\td6",
                ]);
                text.push_str(&format!("\n{stub} <<{mark}\n{body}\nEOF"));
            }
            _ => {}
        }
        text
    }

    fn stub(&mut self) -> String {
        let name = format!("c{}", self.commands);
        self.commands += 1;
        name
    }

    fn simple(&mut self, depth: usize) -> String {
        let mut text = String::new();
        if self.below(8) == 0 {
            text.push_str(self.one(&["X=1 ", "X='a b' Y=2 ", "X=$V "]));
        }
        text.push_str(&self.stub());
        for _ in 0..self.below(4) {
            text.push(' ');
            text.push_str(&self.word(depth));
        }
        if self.below(6) == 0 {
            text.push_str(self.one(&[
                " >out",
                " 2>&1",
                " &>all",
                " >>out 2>err",
                " <<<'d7 x'",
                " <<< $V",
                " >|out",
                " 3>&-",
            ]));
        }
        text
    }

    fn word(&mut self, depth: usize) -> String {
        let mut text = String::new();
        for _ in 0..1 + self.below(3) {
            let piece = self.piece(depth);
            text.push_str(&piece);
        }
        text
    }

    fn piece(&mut self, depth: usize) -> String {
        if depth > 0 && self.below(12) == 0 {
            let inner = self.list(depth - 1);
            return match self.below(5) {
                0 => format!("$( {inner})"),
                1 => format!("\"$( {inner})\""),
                2 => format!("\"a $( {inner} ) b\""),
                3 => format!("$((1 + 2))$( {inner}\n)"),
                _ => format!("<({inner})"),
            };
        }
        self.one(&PIECES).to_owned()
    }

    fn command(&mut self, depth: usize) -> String {
        if depth == 0 || self.below(3) > 0 {
            return self.simple(depth);
        }
        let depth = depth - 1;
        match self.below(14) {
            0 => format!("( {} )", self.list(depth)),
            1 => format!("{{ {}; }}", self.unended(depth)),
            2 => format!(
                "if {}; then {}; fi",
                self.unended(depth),
                self.unended(depth)
            ),
            3 => format!(
                "if {}; then {}; elif {}; then {}; else {}; fi",
                self.simple(0),
                self.simple(0),
                self.simple(0),
                self.simple(0),
                self.simple(0)
            ),
            4 => format!(
                "for x in {} {}; do {}; done",
                self.word(0),
                self.word(0),
                self.unended(depth)
            ),
            5 => format!(
                "while {}; do {}; break; done",
                self.simple(0),
                self.unended(depth)
            ),
            6 => format!("until {}; do {}; done", self.simple(0), self.unended(depth)),
            7 => format!(
                "case {} in a|'b c') {};; (*) {} ;; esac",
                self.word(0),
                self.list(depth),
                self.list(depth)
            ),
            8 => self.function(depth),
            9 => format!(
                "[[ {} == x* && ! ( -z $V ) ]]",
                self.one(&["$V", "\"a b\"", "'d1'"])
            ),
            10 => format!("(( 1 + (2 * 3) > {} ))", self.below(9)),
            11 => format!("! {}", self.simple(depth)),
            12 => format!("[[ $V =~ ^(a|b c?)$ ]] || {}", self.simple(0)).replace("b c?", "b.c?"),
            _ => format!("{{\n{}\n}} >out", self.list(depth)),
        }
    }

    /// A function that is called right away.
    fn function(&mut self, depth: usize) -> String {
        self.functions += 1;
        let name = format!("f{}", self.functions);
        let heads = ["NAME()", "function NAME", "NAME ( )", "function NAME()"];
        let head = self.one(&heads).replace("NAME", &name);
        let body = self.unended(depth);
        format!("{{ {head} {{ {body}; }}; {name} {}; }}", self.word(0))
    }

    /// A list that may be followed by `;`.
    fn unended(&mut self, depth: usize) -> String {
        let list = self.list(depth);
        list.trim_end_matches(" &").to_owned()
    }
}

/// `script` with one character removed, doubled or replaced.
pub(super) fn mutated(script: &str, seed: u64) -> String {
    let mut generator = Generator::new(seed ^ 0xabcdef);
    let mut characters: Vec<char> = script.chars().collect();
    let at = generator.below(characters.len());
    match generator.below(3) {
        0 => {
            characters.remove(at);
        }
        1 => characters.insert(at, characters[at]),
        _ => {
            let all: Vec<char> = "'\"\\$(){}|&;<>#` \n".chars().collect();
            characters[at] = all[generator.below(all.len())];
        }
    }
    // A backslash at the end must not reach what the caller appends.
    characters.extend(['\n', '\n']);
    characters.into_iter().collect()
}
