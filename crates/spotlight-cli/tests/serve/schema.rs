//! As much of JSON Schema as the description of the server uses.

use serde_json::Value;

/// Holds a value against a schema; an error says where they differ.
pub fn check(value: &Value, schema: &Value, all: &Value) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str() {
        let pointer = name.trim_start_matches('#');
        return check(value, all.pointer(pointer).ok_or(format!("no schema {name}"))?, all);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let fits: Vec<Result<(), String>> = choices.iter().map(|choice| check(value, choice, all)).collect();
        // An empty list fits a list of anything.
        return match fits.iter().any(Result::is_ok) {
            true => Ok(()),
            false => Err(format!("none of several: {fits:?}")),
        };
    }
    if value.is_null() && schema["nullable"] == true {
        return Ok(());
    }
    let right = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("number") => value.is_number(),
        Some("integer") => value.is_u64() || value.is_i64(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        other => return Err(format!("a schema of type {other:?}")),
    };
    if !right {
        return Err(format!("{value} is no {}", schema["type"]));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        return Err(format!("{value} is none of {allowed:?}"));
    }
    for item in value.as_array().into_iter().flatten() {
        check(item, &schema["items"], all)?;
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        if value.get(name.as_str().unwrap()).is_none() {
            return Err(format!("{name} is missing"));
        }
    }
    for (name, field) in value.as_object().into_iter().flatten() {
        match (&schema["properties"][name], &schema["additionalProperties"]) {
            (Value::Null, Value::Bool(false)) => return Err(format!("{name} is not described")),
            (Value::Null, Value::Null | Value::Bool(true)) => {}
            (Value::Null, others) => check(field, others, all).map_err(|e| format!("{name}: {e}"))?,
            (known, _) => check(field, known, all).map_err(|e| format!("{name}: {e}"))?,
        }
    }
    Ok(())
}
