//! The Java side of the records, generated from [`hiatus_wire::layout`].

use hiatus_wire::layout::{Layout, Type, ABI, ADMITS, ANSWERS, FACTS, HEADER, LENDS, MARKS, MORE, SAID};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Where the generated file is checked in, seen from this crate's folder. That is the caller's to name: the library would
/// depend on where it was built.
pub fn path(manifest_dir: &str) -> PathBuf {
    Path::new(manifest_dir).join("../../java/scheduler/src/generated/java/io/hiatus/scheduler/bridge/Records.java")
}

/// Its text.
pub fn records() -> String {
    let mut out = String::from(
        "// Generated from rust/wire/src/layout.rs by `cargo run -p hiatus-jni --bin generate-records`. Do not edit.\n\
         package io.hiatus.scheduler.bridge;\n\n\
         import java.nio.ByteBuffer;\n\n\
         /** Layouts of all records that cross the boundary to the native library. */\n\
         public final class Records {\n",
    );
    line(&mut out, 1, "/** Layouts and version in one number; the native library has the same. */");
    line(&mut out, 1, &format!("public static final int ABI = {ABI};"));
    line(&mut out, 1, "/** Bytes of kind and length before the fields. */");
    line(&mut out, 1, &format!("public static final int HEADER = {HEADER};"));
    line(
        &mut out,
        1,
        "/** In what a step returns, above the bytes of its answers: another one is worth while without new facts. */",
    );
    line(&mut out, 1, &format!("public static final long MORE = {MORE}L;"));
    line(&mut out, 1, "/** There too: the core said something. */");
    line(&mut out, 1, &format!("public static final long SAID = {SAID}L;"));
    line(&mut out, 1, "/** And there: reduces of some queue lend their room. */");
    line(&mut out, 1, &format!("public static final long LENDS = {LENDS}L;"));
    line(&mut out, 1, "/** And there: applications wait to be let in, and their order was computed anew. */");
    line(&mut out, 1, &format!("public static final long ADMITS = {ADMITS}L;"));
    line(&mut out, 0, "");
    line(&mut out, 1, "private Records() {");
    line(&mut out, 1, "}");
    FACTS.iter().for_each(|layout| told(&mut out, layout));
    ANSWERS.iter().for_each(|layout| answer(&mut out, layout));
    MARKS.iter().for_each(|layout| told(&mut out, layout));
    out.push_str("}\n");
    out
}

fn told(out: &mut String, layout: &Layout) {
    let size: usize = layout.fields.iter().map(|(_, t)| size(*t)).sum::<usize>() + HEADER;
    let mut parameters = vec!["FactBuffer out".to_string()];
    parameters.extend(layout.fields.iter().map(|(name, t)| format!("{} {}", java(*t), camel(name))));
    let mut length = size.to_string();
    if layout.text {
        parameters.push("byte[] text".into());
        length += " + text.length";
    }
    line(out, 0, "");
    line(out, 1, &format!("/** {} */", layout.doc));
    line(out, 1, &format!("public static void put{}({}) {{", layout.name, parameters.join(", ")));
    let to = if parameters.len() > 1 { "ByteBuffer to = " } else { "" };
    line(out, 2, &format!("{to}out.record({}, {length});", layout.kind));
    for (name, t) in layout.fields {
        line(out, 2, &format!("to.put{}({});", capital(java(*t)), camel(name)));
    }
    if layout.text {
        line(out, 2, "to.put(text);");
    }
    line(out, 1, "}");
}

fn answer(out: &mut String, layout: &Layout) {
    line(out, 0, "");
    line(out, 1, &format!("/** {} */", layout.doc));
    line(out, 1, &format!("public static final class {} {{", layout.name));
    line(out, 2, &format!("public static final int KIND = {};", layout.kind));
    line(out, 0, "");
    line(out, 2, &format!("private {}() {{", layout.name));
    line(out, 2, "}");
    let mut offset = HEADER;
    for (name, t) in layout.fields {
        line(out, 0, "");
        line(out, 2, &format!("public static {} {}(ByteBuffer from, int at) {{", java(*t), camel(name)));
        line(out, 3, &format!("return from.get{}(at + {offset});", capital(java(*t))));
        line(out, 2, "}");
        offset += size(*t);
    }
    line(out, 1, "}");
}

fn line(out: &mut String, depth: usize, text: &str) {
    let indent = if text.is_empty() { 0 } else { 2 * depth };
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{:indent$}{text}", "");
}

fn size(t: Type) -> usize {
    match t {
        Type::U32 | Type::I32 => 4,
        Type::I64 | Type::F64 => 8,
    }
}

fn java(t: Type) -> &'static str {
    match t {
        Type::U32 | Type::I32 => "int",
        Type::I64 => "long",
        Type::F64 => "double",
    }
}

/// `putInt` and so on.
fn capital(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_string();
    first + &words.map(capital).collect::<String>()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_java_side_is_not_stale() {
        let checked_in = std::fs::read_to_string(super::path(env!("CARGO_MANIFEST_DIR"))).unwrap_or_default();
        assert!(checked_in == super::records(), "run `cargo run -p hiatus-jni --bin generate-records` and commit");
    }
}
