"""Chat messages become steps: calls meet their results, and nothing is dropped or guessed."""

from __future__ import annotations

from typing import Any

from bestofn.readers.messages import turns
from bestofn.trajectory import Actor, Command, Observation, Step


def call(call_id: str | None, tool: str = "get", arguments: Any = "{}") -> dict[str, Any]:
    """A tool call in OpenAI's shape."""
    return {"id": call_id, "type": "function", "function": {"name": tool, "arguments": arguments}}


def agent(*calls: dict[str, Any], content: Any = None, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls), **more}


def tool(call_id: str | None, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **more}


def observed(*messages: dict[str, Any]) -> list[tuple[int, int | None, str]]:
    """(step, answered command, text) of every observation."""
    steps = turns(messages).steps
    return [(index, o.command, o.text) for index, step in enumerate(steps) for o in step.observations]


def test_roles_become_actors() -> None:
    """Developer and system messages are the system's, user's the user's, assistant's the agent's."""
    roles = ["system", "developer", "user", "assistant"]
    steps = turns([{"role": role, "content": role} for role in roles]).steps
    assert [step.actor for step in steps] == [Actor.SYSTEM, Actor.SYSTEM, Actor.USER, Actor.AGENT]
    assert [step.message for step in steps] == roles


def test_a_call_and_its_result_share_a_step() -> None:
    """A result answers the call with its id, and a tool message may carry the return code."""
    found = turns([agent(call("c1", "bash", '{"command": "ls"}'), content="I look."), tool("c1", "a b", exit_code=2)])
    assert found.steps == (
        Step(
            Actor.AGENT,
            "I look.",
            commands=(Command("ls", "bash", {"command": "ls"}),),
            observations=(Observation("a b", 0, 2),),
        ),
    )
    assert found.coverage.exit_codes


def test_several_calls_are_answered_by_id_in_any_order() -> None:
    """Results find their calls whatever order they come in."""
    assert observed(agent(call("a"), call("b")), tool("b", "B"), tool("a", "A")) == [(0, 1, "B"), (0, 0, "A")]


def test_a_call_without_a_result_keeps_none() -> None:
    """A later result, with another id or none, never goes to a call whose own result is missing."""
    later = agent(call("b"))
    assert observed(agent(call("a")), later, tool("b", "B")) == [(1, 0, "B")]
    assert observed(agent(call("a")), {"role": "user", "content": "and?"}, tool("b", "B")) == [(2, None, "B")]
    assert observed(agent(call("a"), call("b")), tool(None, "?")) == [(0, None, "?")]


def test_an_id_used_again_means_the_latest_call() -> None:
    """A result goes to the latest call with its id, and a second one is not given to the older call."""
    assert observed(agent(call("a")), agent(call("a")), tool("a", "1"), tool("a", "2")) == [(1, 0, "1"), (1, None, "2")]


def test_one_id_twice_in_a_turn_is_answered_in_order() -> None:
    """Two calls of a turn under one id get their results in order."""
    assert observed(agent(call("a"), call("a")), tool("a", "1"), tool("a", "2")) == [(0, 0, "1"), (0, 1, "2")]


def test_results_without_ids_go_to_their_calls_only_where_there_is_no_choice() -> None:
    """By number, or by the tool's name; with two open calls of one name a single result stays unassigned."""
    two = agent(call(None, "ls"), call(None, "cat"))
    assert observed(two, tool(None, "1"), tool(None, "2")) == [(0, 0, "1"), (0, 1, "2")]
    assert observed(two, tool(None, "2", name="cat")) == [(0, 1, "2")]
    assert observed(agent(call(None, "ls"), call(None, "ls")), tool(None, "1", name="ls")) == [(0, None, "1")]


def test_the_older_function_call_is_a_call() -> None:
    """`function_call` with a message of role `function` is one call and its result."""
    old = {"role": "assistant", "content": None, "function_call": {"name": "add", "arguments": '{"a": 1}'}}
    step = turns([old, {"role": "function", "name": "add", "content": "2"}]).steps[0]
    assert step.commands == (Command('{"a": 1}', "add", {"a": 1}),)
    assert step.observations == (Observation("2", 0),)


def test_arguments_that_are_no_object_keep_their_text() -> None:
    """Empty, cut, null, list and bare text arguments stay as recorded and are not parsed; no call is dropped."""
    raw = ['{"city": "Oslo"}', "", '{"city": "Os', "null", '["Oslo"]', '"Oslo"']
    commands = turns([agent(*(call(f"c{i}", "get", text) for i, text in enumerate(raw)))]).steps[0].commands
    assert [command.text for command in commands] == raw
    assert [command.arguments for command in commands] == [{"city": "Oslo"}, None, None, None, None, None]


def test_calls_of_unknown_shape_are_kept_as_text() -> None:
    """A call that is a text, a flat object, a custom call or something else is a command all the same."""
    shapes = [
        "ls -la",
        {"id": "f", "name": "get", "arguments": {"city": "Oslo"}},
        {"id": "u", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}},
        {"id": "n", "type": "function", "function": None},
        17,
    ]
    commands = turns([agent(*shapes)]).steps[0].commands  # type: ignore[arg-type]
    assert [(command.tool, command.text) for command in commands] == [
        ("", "ls -la"),
        ("get", '{"city":"Oslo"}'),
        ("patch", "*** Begin"),
        ("", '{"function":null}'),
        ("", "17"),
    ]


def test_content_parts_are_joined_and_images_named() -> None:
    """Text parts are joined, an image becomes a mark with its type and size, and none of its data stays."""
    data = "iVBORw0KGgo" + "A" * 100_000
    parts = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
    ]
    found = turns([{"role": "user", "content": parts}, agent(call("c")), tool("c", parts)])
    assert found.steps[0].message == "look\n[image image/png, 75008 bytes, not shown]"
    assert found.steps[1].observations[0].text == found.steps[0].message


def test_blocks_of_other_services_are_read_in_place() -> None:
    """Parts of type tool_use, tool_result and thinking are calls, results and reasoning."""
    use = {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}}
    said = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I look."}, use]
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a b"}]}
    found = turns([{"role": "assistant", "content": said}, {"role": "user", "content": [result]}])
    assert found.steps == (
        Step(
            Actor.AGENT,
            "I look.",
            "hm",
            (Command("ls", "bash", {"command": "ls"}),),
            (Observation("a b", 0),),
        ),
    )


def test_reasoning_is_kept_apart() -> None:
    """`reasoning_content`, `reasoning`, and a leading think block are reasoning; the message is what follows."""
    for message in (
        {"role": "assistant", "content": "done", "reasoning_content": "why"},
        {"role": "assistant", "content": "done", "reasoning": "why"},
        {"role": "assistant", "content": "<think>\nwhy\n</think>\n\ndone"},
        {"role": "assistant", "content": "done", "reasoning_details": [{"type": "reasoning.text", "text": "why"}]},
    ):
        assert turns([message]).steps == (Step(Actor.AGENT, "done", "why"),)


def test_a_refusal_is_a_message() -> None:
    """OpenAI's `refusal` stands for the content that is missing."""
    assert turns([{"role": "assistant", "content": None, "refusal": "I can't."}]).steps[0].message == "I can't."


def test_the_ids_of_calls_reach_nothing() -> None:
    """An id that carries an encoded thought is never shown."""
    hidden = "__thought__" + "QUJD" * 400
    found = turns([agent(call(hidden)), tool(hidden, "ok")])
    assert found.steps[0].observations == (Observation("ok", 0),)
    assert "QUJD" not in repr(found.steps)


def test_terminal_output_is_cleaned() -> None:
    """Colours go and a carriage return overwrites its line, in results and in messages."""
    found = turns([agent(call("c"), content="\x1b[1mbold\x1b[0m"), tool("c", "Work 1%\rWork... done\x1b[0m\r\n")])
    assert found.steps[0].message == "bold"
    assert found.steps[0].observations[0].text == "Work... done\n"


def test_texts_that_a_converter_cut_are_marked() -> None:
    """A result that ends in `(+55 chars)` is cut, and then lengths mean nothing."""
    found = turns([agent(call("c")), tool("c", "begin ...(+55 chars)")])
    assert found.steps[0].observations[0].cut
    assert not found.coverage.whole_texts
    assert turns([agent(call("c")), tool("c", "all")]).coverage.whole_texts


def test_what_is_no_message_is_skipped_and_named() -> None:
    """Items without a known role, or with nothing said, are skipped; their indices are told."""
    found = turns(
        [None, {"role": "user", "content": "hi"}, {"role": "oracle", "content": "x"}, {"role": "user"}, "text"]
    )
    assert [step.message for step in found.steps] == ["hi"]
    assert found.skipped == (0, 2, 3, 4)
