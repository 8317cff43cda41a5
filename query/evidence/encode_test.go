package evidence

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/recountdb/recount/schemas"
)

// TestAppendJSON: an answer is written as package encoding/json writes it, whatever is in
// it, and whatever is not.
func TestAppendJSON(t *testing.T) {
	for seed := range uint64(300) {
		var r Response
		fill(rand.New(rand.NewPCG(seed, 1)), reflect.ValueOf(&r).Elem(), float64(seed%10)/9)
		var want bytes.Buffer
		plain := json.NewEncoder(&want)
		plain.SetEscapeHTML(false)
		if err := plain.Encode(r); err != nil {
			t.Fatal(err)
		}
		if got := string(r.AppendJSON(nil)) + "\n"; got != want.String() {
			t.Fatalf("seed %d:\ngot  %s\nwant %s", seed, got, &want)
		}
		escaped, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		e := encoder{html: true}
		if e.response(&r); string(e.b) != string(escaped) {
			t.Fatalf("seed %d, for HTML:\ngot  %s\nwant %s", seed, e.b, escaped)
		}
	}
}

// fill fills a value at random; of what there may be, about a share is there.
func fill(rng *rand.Rand, v reflect.Value, share float64) {
	if rng.Float64() > share {
		return
	}
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(rng.Int64N(1<<33), rng.Int64N(2)*rng.Int64N(1e9)).UTC()))
		return
	case schemas.Watermark:
		v.Set(reflect.ValueOf(schemas.Watermark{{Topic: "recount.agents", Partition: 1}: rng.Int64()}))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(rng, v.Field(i), share)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(rng, v.Elem(), share)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), rng.IntN(3), 3))
		for i := range v.Len() {
			fill(rng, v.Index(i), share)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range rng.IntN(20) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(rng, key, 1)
			fill(rng, value, share)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		signs := []rune("ab \"\\/<>&\b\f\n\r\t\x00\x1f\x7fé…世🙂\u2028\u2029\ufffd")
		var s []byte
		for range rng.IntN(12) {
			if s = append(s, string(signs[rng.IntN(len(signs))])...); rng.IntN(20) == 0 {
				s = append(s, 0xe4, 0xb8) // of a rune
			}
		}
		v.SetString(string(s))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat([]float64{1, -0.25, 0.0489, 1e-6, 9.9e-7, -3.2e-9, 1.5e-12, 1e20, 1e21, 2.5e200, rng.NormFloat64()}[rng.IntN(11)])
	default:
		v.SetInt(rng.Int64() >> (64 - v.Type().Bits()) >> rng.IntN(v.Type().Bits()))
	}
}
