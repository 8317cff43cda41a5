package wire

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// OfAny returns the payload of any answer: that of [Of], or for an answer that has none there its
// fields. A list of objects becomes a list with a column for each field. Empty fields, what the answer
// rests on and the named ones are left out.
func OfAny(name string, answer any, leaveOut ...string) Payload {
	if p, ok := Of(name, answer); ok {
		return p
	}
	f := fields{leaveOut}
	p := Payload{Question: name}
	for _, x := range f.fieldsOf(reflect.ValueOf(answer)) {
		if isTable(x.value) {
			f.table(&p, x.name, x.value)
		} else {
			p.Set(x.name, f.cell(x.value, false))
		}
	}
	return p
}

// fields reads the fields of a response.
type fields struct {
	// leaveOut names those that are left out wherever they are.
	leaveOut []string
}

// field is a field that is not empty.
type field struct {
	name  string
	value reflect.Value
}

// fieldsOf returns the fields of a struct that are not empty, those of embedded structs with their own.
// File and line become one field, place.
func (f fields) fieldsOf(v reflect.Value) []field {
	var all []field
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	typ := v.Type()
	hasLine := false
	for _, f := range reflect.VisibleFields(typ) {
		if f.Name == "Line" {
			hasLine = true
		}
	}
	for _, x := range reflect.VisibleFields(typ) {
		if x.Anonymous || !x.IsExported() {
			continue
		}
		name := jsonName(x)
		if name == "" || name == "-" || skipped[name] || slices.Contains(f.leaveOut, name) {
			continue
		}
		value, err := v.FieldByIndexErr(x.Index)
		if err != nil || isEmpty(value) {
			continue
		}
		if hasLine && x.Name == "Line" {
			continue
		}
		if hasLine && x.Name == "File" && value.Kind() == reflect.String {
			place := value.String()
			if n := v.FieldByName("Line"); n.CanUint() && n.Uint() > 0 {
				place += ":" + strconv.FormatUint(n.Uint(), 10)
			} else if n.CanInt() && n.Int() > 0 {
				place += ":" + strconv.FormatInt(n.Int(), 10)
			}
			name, value = "place", reflect.ValueOf(place)
		}
		all = append(all, field{name, value})
	}
	return all
}

// skipped are fields that no model needs: what an answer rests on, which its resource has, and what
// repeats another field. A hint is none of them.
var skipped = func() map[string]bool {
	all := map[string]bool{"position": true, "snapshot": true, "end_line": true, "exported": true, "variant": true}
	for name := range BasisFields {
		all[name] = true
	}
	delete(all, "hint")
	return all
}()

// BasisFields are the JSON names of the fields that say what an answer rests on.
var BasisFields = func() map[string]bool {
	all := map[string]bool{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[query.Basis]()) {
		all[jsonName(f)] = true
	}
	return all
}()

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Pointer, reflect.Interface:
		return v.IsNil()
	}
	return v.IsZero()
}

func isTable(v reflect.Value) bool {
	return v.Kind() == reflect.Slice && isObject(v.Type().Elem())
}

func isObject(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]() && !t.Implements(reflect.TypeFor[fmt.Stringer]())
}

// table adds a list of objects.
func (f fields) table(p *Payload, name string, list reflect.Value) {
	rows := make([]map[string]string, list.Len())
	var columns []string
	for i := range rows {
		rows[i] = map[string]string{}
		for _, x := range f.fieldsOf(list.Index(i)) {
			rows[i][x.name] = f.cell(x.value, false)
			if !slices.Contains(columns, x.name) && len(columns) < MaxColumns {
				columns = append(columns, x.name)
			}
		}
	}
	l := p.List(name, columns...)
	for _, r := range rows {
		values := make([]string, len(columns))
		for c, name := range columns {
			values[c] = r[name]
		}
		l.Join(nil, values...)
	}
}

// cell returns a value as text. A string inside another value is one word.
func (f fields) cell(v reflect.Value, inside bool) string {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	word := func(s string) string {
		if inside {
			return oneWord(s)
		}
		return s
	}
	switch x := v.Interface().(type) {
	case time.Time:
		return x.UTC().Format(time.RFC3339)
	case schemas.EventID:
		return x.String()[:ShortID]
	case schemas.Hash:
		return x.String()[:shortHash]
	case query.Basis:
		return ""
	case fmt.Stringer:
		return word(x.String())
	}
	switch v.Kind() {
	case reflect.String:
		return word(short(v.String()))
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', 3, 64)
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Slice, reflect.Array:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = f.cell(v.Index(i), true)
		}
		return strings.Join(parts, ",")
	case reflect.Map:
		var parts []string
		for it := v.MapRange(); it.Next(); {
			parts = append(parts, fmt.Sprint(it.Key())+"="+f.cell(it.Value(), true))
		}
		slices.Sort(parts)
		return strings.Join(parts, ",")
	case reflect.Struct:
		var parts []string
		for _, x := range f.fieldsOf(v) {
			parts = append(parts, x.name+"="+f.cell(x.value, true))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return fmt.Sprint(v.Interface())
}

// oneWord returns a string that stands inside another value, quoted if it could end there.
func oneWord(s string) string {
	if s == "" || strings.ContainsAny(s, " ,=\"{}\n") {
		return strconv.Quote(s)
	}
	return s
}

// The lengths at which ids and hashes are still unambiguous, and accepted as references.
const (
	ShortID   = 18
	shortHash = 12
)

// short cuts a commit's hash.
func short(s string) string {
	if (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == "" {
		return s[:shortHash]
	}
	return s
}
