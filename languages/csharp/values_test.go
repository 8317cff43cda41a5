package csharp

import (
	"testing"

	"github.com/recountdb/recount/languages/resolvetest"
)

// TestValueTypes checks calls that depend on numbers, on structs of .NET and on types without a body.
func TestValueTypes(t *testing.T) {
	for _, c := range []struct{ name, archive, want string }{
		{"whole numbers are converted to smaller types, numbers to larger ones", `
-- src/Use.cs --
namespace Acme;
static class Numerics
{
    public static byte Clamp(byte value, byte min, byte max) => value;
    public static uint Clamp(uint value, uint min, uint max) => value;
    public static int Clamp(int value, int min, int max) => value;
    public static float Clamp(float value, float min, float max) => value;
    public static double Clamp(double value, double min, double max) => value;
    public static void Write(System.Span<byte> to, nint at, byte value) { }
    public static void Put(byte value) { }
    public static void Put(long value) { }
    public static void Put(object value) { }
    public static Range Make(Instant from) => new Range(from, Unknown.Zero); // not to be known
    public static void Set(string name, int value) { }
    public static void Set(string name, object value) { }
}
struct Instant { }
class Range
{
    public Range(Instant? from, object zero) { }
    public Range(Instant from, object zero) { }
}
class Use
{
    void Run(float f, uint u, int i, System.Span<byte> s, int? n)
    {
        Numerics.Clamp(f, 0, 1);
        Numerics.Clamp(u, 0, 1);
        Numerics.Clamp(i, 0, 1);
        Numerics.Clamp(2.5, 0, 1);
        Numerics.Write(s, i, 0);
        Numerics.Put(255);
        Numerics.Put(256);
        Numerics.Put(-1);
        Numerics.Put(5L);
        Numerics.Set(Unknown.Name, 5);
        Numerics.Put(n); // not to be known: it is an object here
        Numerics.Put(n.Value);
    }
}
`, `
calls src/Use.cs:Use.Run -> src/Use.cs:Numerics.Clamp#2 @28:17
calls src/Use.cs:Use.Run -> src/Use.cs:Numerics.Clamp#3 @29:17
calls src/Use.cs:Use.Run -> src/Use.cs:Numerics.Clamp#4 @27:17
calls src/Use.cs:Use.Run -> src/Use.cs:Numerics.Clamp#5 @30:17
calls src/Use.cs:Use.Run -> src/Use.cs:Numerics.Put @32:17
calls src/Use.cs:Use.Run -> src/Use.cs:Numerics.Put#2 @33:17,34:17,35:17,38:17
calls src/Use.cs:Use.Run -> src/Use.cs:Numerics.Set @36:17
calls src/Use.cs:Use.Run -> src/Use.cs:Numerics.Write @31:17
calls src/Use.cs:Numerics.Make -> new Range @13:50 (unresolved)
calls src/Use.cs:Use.Run -> Numerics.Put @37:17 (unresolved)
`},
		{"structs of .NET: their own methods, and overloads by them", `
-- src/Use.cs --
using System;
using System.Buffers;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;
namespace Acme;
static class Extensions
{
    public static Span<T> Slice<T>(this IMemoryOwner<T> buffer, int start, int length) => default;
    public static int Half(this Span<int> of) => 0;
    public static int Half(this Span<byte> of) => 0;
}
static class Use
{
    static Vector4 In(Vector4 a, Vector4 b) => a;
    static Vector256<float> In(Vector256<float> a, Vector256<float> b) => a;
    static Vector512<float> In(Vector512<float> a, Vector512<float> b) => a;
    static void Pack(Vector128<short> of) { }
    static void Pack(Vector128<int> of) { }
    static void Swap<T>(ref T a, ref T b) { }
    static void Swap<T>(ref Span<T> a, ref Span<T> b) { }
    static void Show(ReadOnlySpan<char> text) { }
    static void Show(Vector4 v) { }
    static void Run(Span<byte> bytes, IMemoryOwner<byte> owner, Vector256<float> v, Vector4 w, ref short first, Vector128<byte> bits)
    {
        bytes.Slice(1, 2);
        owner.Slice(1, 2);
        bytes[..3].Half();
        In(v * w, v);
        In(w / w, w);
        Pack(bits.AsInt16());
        Swap(ref Unsafe.Add(ref first, 1), ref Unsafe.Add(ref first, 2));
        Swap(ref bytes, ref bytes);
        Show("text");
    }
}
`, `
calls src/Use.cs:Use.Run -> src/Use.cs:Extensions.Half#2 @28:19
calls src/Use.cs:Use.Run -> src/Use.cs:Extensions.Slice @27:14
calls src/Use.cs:Use.Run -> src/Use.cs:Use.In @30:8
calls src/Use.cs:Use.Run -> src/Use.cs:Use.In#2 @29:8
calls src/Use.cs:Use.Run -> src/Use.cs:Use.Pack @31:8
calls src/Use.cs:Use.Run -> src/Use.cs:Use.Show @34:8
calls src/Use.cs:Use.Run -> src/Use.cs:Use.Swap @32:8
calls src/Use.cs:Use.Run -> src/Use.cs:Use.Swap#2 @33:8
calls src/Use.cs:Use.Run -> csharp System Span.Slice @26:14 (external)
calls src/Use.cs:Use.Run -> csharp System.Runtime.CompilerServices Unsafe.Add @32:24,32:54 (external)
calls src/Use.cs:Use.Run -> csharp System.Runtime.Intrinsics Vector128.AsInt16 @31:18 (external)
`},
		{"types without a body, a generic type beside a nested one of its name, casts to pointers", `
-- src/Operations.cs --
namespace Acme;
public partial class Operations<T>
{
    public static Operations<T> Instance { get; }
}
public partial class Operations<T>
{
    public virtual void Apply(System.Span<T> to, int mode) { }
}
public interface IMarker;
-- src/Pixel.cs --
namespace Acme;
public partial struct Pixel
{
    internal class Operations : Operations<Pixel>;
    public static Operations<Pixel> Make() => new Operations();
    class Failure(string text) : System.Exception(text);
    void Run(System.Span<Other> to)
    {
        Operations<Other>.Instance.Apply(to, 1);
        throw new Failure("x");
    }
}
public struct Other { }
-- src/Bits.cs --
namespace Acme;
static class Bits
{
    static unsafe ulong Of(double a, double b)
    {
        ulong x = *(ulong*)&a, y = *(ulong*)&b;
        return Sum(x, y);
    }
    static ulong Sum(ulong a, ulong b) => a;
}
`, `
calls src/Bits.cs:Bits.Of -> src/Bits.cs:Bits.Sum @7:15
calls src/Pixel.cs:Pixel.Make -> src/Pixel.cs:Pixel.Operations @5:50
calls src/Pixel.cs:Pixel.Run -> src/Operations.cs:Operations.Apply @9:35
calls src/Pixel.cs:Pixel.Run -> src/Pixel.cs:Pixel.Failure @10:18
calls src/Pixel.cs:Pixel.Failure -> csharp System Exception @6:49 (external)
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			resolvetest.Edges(t, NewResolver(), factsOf, c.archive, c.want, "calls")
		})
	}
}
