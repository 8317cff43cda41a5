package api

import "testing"

func TestUnmarshalTakesWholeNumbers(t *testing.T) {
	type request struct {
		Limit int
		Deep  []struct{ N *int64 }
		Score float64
		Text  string
	}
	for text, want := range map[string]int{
		`{"limit": 5}`: 5, `{"limit": 5.0}`: 5, `{"limit": 1e3}`: 1000, `{"limit": -2.50e1, "score": 0.5, "text": "5.0"}`: -25,
		`{"limit": 9007199254740993.0}`: 9007199254740993,
	} {
		var r request
		if err := Unmarshal([]byte(text), &r); err != nil || r.Limit != want {
			t.Errorf("%s: %+v, %v", text, r, err)
		}
	}
	var r request
	if err := Unmarshal([]byte(`{"limit": 7.0, "deep": [{"n": 8.0}], "score": 0.5, "text": "5.0"}`), &r); err != nil || *r.Deep[0].N != 8 || r.Score != 0.5 || r.Text != "5.0" {
		t.Errorf("%+v, %v", r, err)
	}
	for _, text := range []string{`{"limit": 5.5}`, `{"limit": 1e999999999}`, `{"limit": 1e30}`, `{"limit": 1e-400}`, `{"limit": "5"}`, `{"limit": 5.0`, `[5.0]`} {
		if err := Unmarshal([]byte(text), &request{}); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}
