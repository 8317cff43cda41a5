package hookinput

import (
	"encoding/json"
	"fmt"
	"testing"
)

// TestExitCode finds the lines of the agents' tools, and no others.
func TestExitCode(t *testing.T) {
	for s, want := range map[string]int32{
		"Exit code: 2\nrest": 2, "exit code 7": 7, "out\nEXIT CODE:\t3\r\n": 3, "Process exited with code 101": 101, "Exit code: 1\nExit code: 2": 1, "process exited with code: 0": 0,
		"": -1, "exit code": -1, "exit code:": -1, "exit code:5": -1, "exit code5": -1, " exit code 5": -1, "the exit code 5": -1, "exit code: -1": -1, "exit code: 5x": -1, "exit code: 99999999999": -1, "exit code: 9999999999": -1, "exit codé 5": -1,
	} {
		code, ok := ExitCode(s)
		if !ok {
			code = -1
		}
		if code != want {
			t.Errorf("%q: %d, want %d", s, code, want)
		}
	}
}

// TestLoose reads fields of unexpected types as absent.
func TestLoose(t *testing.T) {
	m, err := Parse([]byte(`{"session_id":7,"is_interrupt":"yes","duration_ms":"x","prompt":"p","tool_input":[1]}`))
	if err != nil || m.Session != "" || bool(m.Stopped) || m.DurationMS != 0 || m.Prompt != "p" {
		t.Errorf("got %+v, %v", m, err)
	}
	if _, err := m.ToolInput(); err == nil {
		t.Error("a list is no input of a tool")
	}
	if m, err := Parse([]byte(`{"prompt":"p"`)); err == nil || m.Prompt != "" {
		t.Errorf("half a message: %+v, %v", m, err)
	}
}

// TestResult reads responses in the agents' formats.
func TestResult(t *testing.T) {
	for response, want := range map[string]string{
		`{"stdout":"a\n","stderr":"b","interrupted":false}`:                      "a\nb <nil> false false false",
		`{"stdout":"Exit code: 3"}`:                                              "Exit code: 3 <nil> false false false",
		`{"output":"x","metadata":{"exit_code":2}}`:                              "x 2 false false false",
		`{"exit_code":0,"metadata":{"exit_code":2}}`:                             " 0 false false false",
		`"Exit code: 101\nerror"`:                                                "Exit code: 101\nerror 101 false false false",
		`{"llmContent":"Output: u\nExit Code: 2","returnDisplay":"x"}`:           "Output: u\nExit Code: 2 2 false false false",
		`{"error":{"message":"m"}}`:                                              `{"message":"m"} <nil> false false true`,
		`{"stdout":"","interrupted":true,"backgroundTaskId":"b","exit_code":-5}`: " <nil> true true false",
		`null`: " <nil> false false false", ``: " <nil> false false false",
	} {
		m := Message{Response: json.RawMessage(response)}
		r := m.Result()
		exit := "<nil>"
		if r.Exit != nil {
			exit = fmt.Sprint(*r.Exit)
		}
		if got := fmt.Sprint(r.Output, " ", exit, " ", r.Interrupted, " ", r.Background, " ", r.Failed); got != want {
			t.Errorf("%s: got %q, want %q", response, got, want)
		}
	}
}
