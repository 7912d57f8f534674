//! Documents made from the JSON Schema of scenarios itself, so that new keys are tried as soon as they are
//! there: whole ones, and ready ones in which values and keys change.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::pieces;
use crate::fuzz::tape::Tape;

/// Objects nest no deeper than this.
const DEPTH: usize = 12;

/// What a scenario may say.
pub struct Grammar {
    schema: Value,
    /// Words that mean something in one place or another.
    words: Vec<String>,
}

impl Grammar {
    /// That of scenarios, with the words of these documents.
    pub fn new(documents: &[Value]) -> Self {
        let mut words: BTreeSet<String> = pieces::WORDS.iter().map(|&word| word.to_owned()).collect();
        for document in documents {
            texts(document, &mut words);
        }
        let mut words: Vec<String> = words.into_iter().collect();
        words.push("very-long-".repeat(500));
        Grammar { schema: floodway_scenario::schema(), words }
    }

    /// A document from nothing.
    pub fn document(&self, tape: &mut Tape<'_>) -> Value {
        self.fresh(&self.schema, tape, 0)
    }

    /// A document like another one.
    pub fn like(&self, document: &Value, tape: &mut Tape<'_>) -> Value {
        self.grown(&self.schema, document, tape, 0)
    }

    /// A table of keys of the top level.
    pub fn keys(&self, tape: &mut Tape<'_>) -> Value {
        let properties = self.schema["properties"].as_object().expect("the top level has keys");
        let keys: Vec<&String> = properties.keys().collect();
        let chosen: BTreeSet<&String> = (0..=tape.below(3)).map(|_| *tape.pick(&keys)).collect();
        chosen.into_iter().map(|key| (key.clone(), self.fresh(&properties[key], tape, 1))).collect()
    }

    /// A path of keys that leads somewhere, or nearly.
    pub fn path(&self, document: &Value, tape: &mut Tape<'_>) -> String {
        let mut segments = Vec::new();
        let mut at = document;
        while segments.len() < 8 && !tape.once_in(6) {
            let next = match at {
                Value::Object(table) if !table.is_empty() => {
                    let keys: Vec<&String> = table.keys().collect();
                    let key = *tape.pick(&keys);
                    Some((key.clone(), &table[key]))
                }
                Value::Array(items) if !items.is_empty() => {
                    let i = tape.below(items.len());
                    let name = items[i].get("name").and_then(Value::as_str).map(str::to_owned);
                    Some((name.unwrap_or_else(|| (i + 1).to_string()), &items[i]))
                }
                _ => None,
            };
            let Some((key, value)) = next else { break };
            segments.push(if tape.once_in(12) { tape.pick(&self.words).clone() } else { key });
            at = value;
        }
        if segments.first().is_some_and(|first| first == "override") {
            segments.remove(0);
        }
        if tape.once_in(3) {
            let keys: Vec<&str> = self.all_keys();
            segments.push(tape.word(&keys).to_owned());
        }
        segments.join(".")
    }

    /// Every key of the grammar.
    fn all_keys(&self) -> Vec<&str> {
        let definitions = self.schema["$defs"].as_object().into_iter().flat_map(Map::values);
        let tables = definitions.filter_map(|definition| definition.get("properties")?.as_object());
        tables.flat_map(Map::keys).map(String::as_str).collect()
    }

    /// The forms that a value may have, none of which is a choice among others.
    fn forms<'a>(&'a self, schema: &'a Value, forms: &mut Vec<&'a Value>) {
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            let definition = name.rsplit('/').next().and_then(|name| self.schema["$defs"].get(name));
            self.forms(definition.expect("what is referred to is defined"), forms);
        } else if let Some(Value::Array(choices)) = schema.get("anyOf").or_else(|| schema.get("oneOf")) {
            for choice in choices {
                self.forms(choice, forms);
            }
        } else {
            forms.push(schema);
        }
    }

    fn fresh(&self, schema: &Value, tape: &mut Tape<'_>, depth: usize) -> Value {
        if tape.once_in(60) || depth > DEPTH {
            return pieces::junk(tape);
        }
        let mut forms = Vec::new();
        self.forms(schema, &mut forms);
        forms.retain(|form| form.get("enum").and_then(Value::as_array).is_none_or(|of| !of.is_empty()));
        if forms.is_empty() {
            return pieces::junk(tape);
        }
        let form = *tape.pick(&forms);
        if let Some(value) = form.get("const") {
            return value.clone();
        }
        if let Some(Value::Array(values)) = form.get("enum") {
            return tape.pick(values).clone();
        }
        match form.get("type").and_then(Value::as_str) {
            Some("string") => match form.get("pattern").and_then(Value::as_str) {
                Some(pattern) => pieces::quantity(pattern, tape).into(),
                None => tape.pick(&self.words).clone().into(),
            },
            Some("integer") => pieces::integer(form, tape),
            Some("number") => pieces::number(form, tape),
            Some("boolean") => (tape.below(2) == 1).into(),
            Some("array") => self.array(form, tape, depth),
            Some("object") => self.table(form, tape, depth),
            _ => pieces::junk(tape),
        }
    }

    fn array(&self, form: &Value, tape: &mut Tape<'_>, depth: usize) -> Value {
        if let Some(Value::Array(places)) = form.get("prefixItems") {
            return places.iter().map(|place| self.fresh(place, tape, depth + 1)).collect();
        }
        let bound = |key: &str| form.get(key).and_then(Value::as_u64).map(|bound| bound as usize);
        let least = bound("minItems").unwrap_or(0);
        let most = bound("maxItems").unwrap_or(least + 3);
        let length = (least + tape.below(most - least + 1)).saturating_sub(usize::from(tape.once_in(40)));
        let Some(item) = form.get("items") else { return json!([]) };
        (0..length).map(|_| self.fresh(item, tape, depth + 1)).collect()
    }

    fn table(&self, form: &Value, tape: &mut Tape<'_>, depth: usize) -> Value {
        let mut table = Map::new();
        let required = form.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        for (key, schema) in form.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let is_due = required.iter().any(|due| due == key);
            if if is_due { !tape.once_in(60) } else { tape.once_in(5) } {
                table.insert(key.clone(), self.fresh(schema, tape, depth + 1));
            }
        }
        for schema in
            form.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::values)
        {
            for _ in 0..=tape.below(3) {
                table.insert(format!("class-{}", tape.below(9)), self.fresh(schema, tape, depth + 1));
            }
        }
        match form.get("additionalProperties") {
            Some(schema @ Value::Object(_)) => {
                let key = tape.pick(&self.words).clone();
                table.insert(key, self.fresh(schema, tape, depth + 1));
            }
            _ if tape.once_in(80) => {
                table.insert(tape.pick(&self.words).clone(), pieces::junk(tape));
            }
            _ => {}
        }
        Value::Object(table)
    }

    /// The form that a value has, or nearly has.
    fn form_of<'a>(&'a self, schema: &'a Value, value: &Value) -> Option<&'a Value> {
        let mut forms = Vec::new();
        self.forms(schema, &mut forms);
        let kind = match value {
            Value::Object(_) => "object",
            Value::Array(_) => "array",
            _ => return None,
        };
        forms.retain(|form| form.get("type").is_some_and(|of| of == kind));
        let knows = |form: &&Value| {
            let properties = form.get("properties").and_then(Value::as_object);
            let keys = value.as_object().into_iter().flat_map(Map::keys);
            keys.clone().all(|key| properties.is_some_and(|known| known.contains_key(key)))
        };
        let known = forms.iter().copied().find(|form| knows(form));
        known.or_else(|| forms.first().copied())
    }

    fn grown(&self, schema: &Value, value: &Value, tape: &mut Tape<'_>, depth: usize) -> Value {
        if depth > 0 && tape.once_in(150) {
            return self.fresh(schema, tape, depth);
        }
        match (value, self.form_of(schema, value)) {
            (Value::Object(table), Some(form)) => self.grown_table(form, table, tape, depth),
            (Value::Array(items), Some(form)) => {
                let Some(schema) = form.get("items") else { return value.clone() };
                let grown = |item| self.grown(schema, item, tape, depth + 1);
                let mut items: Vec<Value> = items.iter().map(grown).collect();
                match tape.below(30) {
                    29 => items.push(self.fresh(schema, tape, depth + 1)),
                    28 if !items.is_empty() => items.push(tape.pick(&items).clone()),
                    27 => _ = items.pop(),
                    _ => {}
                }
                items.into()
            }
            _ => value.clone(),
        }
    }

    fn grown_table(
        &self,
        form: &Value,
        table: &Map<String, Value>,
        tape: &mut Tape<'_>,
        depth: usize,
    ) -> Value {
        let nothing = Map::new();
        let properties = form.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
        let mut grown = Map::new();
        for (key, value) in table {
            if tape.once_in(300) {
                continue;
            }
            let value = match properties.get(key) {
                Some(schema) => self.grown(schema, value, tape, depth + 1),
                None => value.clone(),
            };
            grown.insert(key.clone(), value);
        }
        let keys: Vec<&String> = properties.keys().collect();
        if !keys.is_empty() && tape.once_in(20) {
            let key = *tape.pick(&keys);
            grown.insert(key.clone(), self.fresh(&properties[key], tape, depth + 1));
        }
        Value::Object(grown)
    }
}

/// The texts in a value, and the names of its keys.
fn texts(value: &Value, words: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => _ = words.insert(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, words)),
        Value::Object(table) => table.values().for_each(|value| texts(value, words)),
        _ => {}
    }
}
