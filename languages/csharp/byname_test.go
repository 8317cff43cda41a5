package csharp

import (
	"testing"

	"github.com/recountdb/recount/languages/resolvetest"
)

// TestOnlyNamed has calls on values of unknown type. A method that is the only one of its name is
// meant; one whose name is common, or that a field has too, is not.
func TestOnlyNamed(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- src/Run.cs --
namespace N;
class Run
{
    void Go(Session session)
    {
        var it = session.Anything();
        it.RenderReceipt(1);
        it.RenderReceipt(1, 2);
        it.Add(1);
        it.Handler(1);
        it.SplitWords();
        session.SplitWords();
        session.RenderReceipt(1);
        Missing.RenderReceipt(1);
        it.Overloaded("x");
        it.Two(1);
    }
}
-- src/Receipt.cs --
namespace N;
public interface IReceipt { void RenderReceipt(int width); }
class Receipt : IReceipt
{
    public System.Action<int> Handler;
    public void RenderReceipt(int width) { }
    public void Add(int n) { }
    public void Overloaded(string s) { }
    public void Overloaded(int n) { }
    public void Two(int n) { }
}
class Other { public void Two(int n) { } void Handler(int n) { } }
static class Words { public static string SplitWords(this string s) => s; }
`, `
calls src/Run.cs:Run.Go -> src/Receipt.cs:IReceipt.RenderReceipt @7:11 (name_matched 500)
calls src/Run.cs:Run.Go -> src/Receipt.cs:Receipt.Overloaded @15:11 (name_matched 500)
calls src/Run.cs:Run.Go -> src/Receipt.cs:Words.SplitWords @11:11,12:16 (name_matched 500)
calls src/Run.cs:Run.Go -> Missing.RenderReceipt @14:16 (unresolved)
calls src/Run.cs:Run.Go -> it.Add @9:11 (unresolved)
calls src/Run.cs:Run.Go -> it.Handler @10:11 (unresolved)
calls src/Run.cs:Run.Go -> it.RenderReceipt @8:11 (unresolved)
calls src/Run.cs:Run.Go -> it.Two @16:11 (unresolved)
calls src/Run.cs:Run.Go -> session.Anything @6:25 (unresolved)
calls src/Run.cs:Run.Go -> session.RenderReceipt @13:16 (unresolved)
`, "calls")
}

// TestCarried has values that come through functions, tasks, tuples, arrays and sequences of .NET.
func TestCarried(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- src/Run.cs --
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
namespace N;
class Item { public void Ship() { } public Item Twin() => this; public string Name; }
class Run
{
    void When(Func<Item, bool> test, Action then) { When((x, _) => test(x), then); }
    void When(Func<Item, int, bool> test, Action then) { }
    Task<Item> Load() => null;
    void Log(int level, Exception error, string text, params object[] rest) { }
    void Log<T>(int level, string text, T value, T other) { }
    static readonly object[] None = new object[0];
    Item[] array; Func<Item> Maker { get; set; }
    void Go(IServiceProvider services, Func<int, Item> make, Exception error, PropertyInfo property, string text)
    {
        Load().Result.Ship();
        Load().GetAwaiter().GetResult().Ship();
        make(1).Ship();
        Tuple.Create(1, new Item()).Item2.Ship();
        array.Select(a => a.Twin()).First().Ship();
        array.Zip(array, (a, b) => b).Last().Ship();
        array.Together();
        services.GetRequiredService<Item>().Ship();
        property.PropertyType.Describe();
        text.Split(new[] { ',' }).Together();
        Log(1, error, "text", None);
        Log(1, error, Texts.Missing, None);
        (array[0] ?? throw new Exception()).Ship();
        Equals(1, 2);
        Maker().Ship();
    }
}
static class Extensions
{
    public static void Together<T>(this IReadOnlyList<T> list) { }
    public static string Describe(this Type type) => "";
}
`, `
calls src/Run.cs:Run.Go -> src/Run.cs:Extensions.Describe @26:30
calls src/Run.cs:Run.Go -> src/Run.cs:Extensions.Together @24:14,27:34
calls src/Run.cs:Run.Go -> src/Run.cs:Item @21:28
calls src/Run.cs:Run.Go -> src/Run.cs:Item.Ship @18:22,19:40,20:16,21:42,22:44,23:45,25:44,30:44,32:16
calls src/Run.cs:Run.Go -> src/Run.cs:Item.Twin @22:28
calls src/Run.cs:Run.Go -> src/Run.cs:Run.Load @18:8,19:8
calls src/Run.cs:Run.Go -> src/Run.cs:Run.Log @28:8,29:8
calls src/Run.cs:Run.When -> src/Run.cs:Run.When#2 @9:52
calls src/Run.cs:Run.Go -> csharp System Exception @30:31 (external)
calls src/Run.cs:Run.Go -> csharp System IServiceProvider.GetRequiredService @25:17 (external)
calls src/Run.cs:Run.Go -> csharp System Object.Equals @31:8 (external)
calls src/Run.cs:Run.Go -> csharp System String.Split @27:13 (external)
calls src/Run.cs:Run.Go -> csharp System Tuple.Create @21:14 (external)
calls src/Run.cs:Run.Go -> csharp System.Collections.Generic IEnumerable.First @22:36 (external)
calls src/Run.cs:Run.Go -> csharp System.Collections.Generic IEnumerable.Last @23:38 (external)
calls src/Run.cs:Run.Go -> csharp System.Collections.Generic IEnumerable.Select @22:14 (external)
calls src/Run.cs:Run.Go -> csharp System.Collections.Generic IEnumerable.Zip @23:14 (external)
calls src/Run.cs:Run.Go -> Load().GetAwaiter @19:15 (unresolved)
calls src/Run.cs:Run.Go -> Load().GetAwaiter().GetResult @19:28 (unresolved)
calls src/Run.cs:Run.Go -> Maker @32:8 (unresolved)
calls src/Run.cs:Run.Go -> make @20:8 (unresolved)
calls src/Run.cs:Run.When -> test @9:67 (unresolved)
`, "calls")
}

// TestChosen has overloads that what a function gives, a span, a delegate or a constant of an enum tells apart.
func TestChosen(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- src/Run.cs --
using System;
using System.Collections.Generic;
namespace N;
enum Mode { Near, Far }
class Base { public Base(Delegate made) { } public Base(string name, int at) { } }
class Made<T> : Base { public Made(Action<T> act) : base(act) { } }
class Run
{
    string Join<T>(IEnumerable<T> of, Func<T, string> text, string by) => "";
    string Join<T>(IEnumerable<T> of, Func<T, object> text, string by) => Join(of, o => text(o)?.ToString(), by);
    string Join<T>(IEnumerable<T> of, string by) => Join(of, o => o?.ToString(), by);
    void Put(ReadOnlySpan<char> a, ReadOnlySpan<char> b) { }
    void Put(char a, ReadOnlySpan<char> b) { }
    void Put(ReadOnlySpan<char> a, char b) { }
    void Make(object of, bool far) { Make(of, far ? Mode.Far : Mode.Near); }
    void Make(object of, Mode mode) { }
    void Go(string s) { Put(s.AsSpan(), "x".AsSpan()); Put(s.AsSpan(1), 'c'); }
}
`, `
calls src/Run.cs:Made.ctor -> src/Run.cs:Base.ctor @6:52
calls src/Run.cs:Run.Go -> src/Run.cs:Run.Put @17:24
calls src/Run.cs:Run.Go -> src/Run.cs:Run.Put#3 @17:55
calls src/Run.cs:Run.Join#2 -> src/Run.cs:Run.Join @10:74
calls src/Run.cs:Run.Join#3 -> src/Run.cs:Run.Join @11:52
calls src/Run.cs:Run.Make -> src/Run.cs:Run.Make#2 @15:37
calls src/Run.cs:Run.Go -> csharp System String.AsSpan @17:30,17:44,17:61 (external)
calls src/Run.cs:Run.Join#2 -> csharp System Object.ToString @10:97 (external)
calls src/Run.cs:Run.Join#3 -> csharp System Object.ToString @11:69 (external)
calls src/Run.cs:Run.Join#2 -> text @10:88 (unresolved)
`, "calls")
}
