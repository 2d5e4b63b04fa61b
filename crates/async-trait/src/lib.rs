//! `#[async_trait]`: async methods in traits that are used as objects.
//!
//! As with the well-known crate of this name, a method returns a boxed future, which is `Send`. There, each reference has a lifetime of its own, and a
//! `where` says that all of them outlive the future. Here all references have one lifetime, and there is no `where`. That matters for the time of a
//! build: what the compiler has proved to be `Send` in one function holds for all others without a `where`, but with one it is proved again.

use proc_macro::TokenStream;
use proc_macro2::Span;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, FnArg, GenericParam, ImplItem, Item, Lifetime, LifetimeParam, Receiver, ReceiverKind, ReturnType, Signature, TraitItem, Type,
    parse_quote_spanned,
};

#[proc_macro_attribute]
pub fn async_trait(_: TokenStream, item: TokenStream) -> TokenStream {
    let item = syn::parse_macro_input!(item as Item);
    expand(item).unwrap_or_else(syn::Error::into_compile_error).into()
}

fn expand(item: Item) -> syn::Result<proc_macro2::TokenStream> {
    match item {
        Item::Trait(mut item) => {
            for method in &mut item.items {
                if let TraitItem::Fn(method) = method {
                    box_future(&mut method.sig, method.default.as_mut())?;
                }
            }
            Ok(quote!(#item))
        }
        Item::Impl(mut item) => {
            for method in &mut item.items {
                if let ImplItem::Fn(method) = method {
                    box_future(&mut method.sig, Some(&mut method.block))?;
                }
            }
            Ok(quote!(#item))
        }
        other => Err(syn::Error::new_spanned(other, "#[async_trait] is for traits and their implementations")),
    }
}

/// Makes a method that returns a boxed future of an async one.
fn box_future(signature: &mut Signature, body: Option<&mut Block>) -> syn::Result<()> {
    let Some(keyword) = signature.asyncness.take() else { return Ok(()) };
    if let Some(generic) = signature.generics.params.first() {
        return Err(syn::Error::new_spanned(generic, "an async method of an object has no generics"));
    }
    // Shown at the method, and known as generated.
    let span = Span::mixed_site().located_at(keyword.span());
    let lifetime = Lifetime::new("'call", span);
    signature.generics.params.push(GenericParam::Lifetime(LifetimeParam::new(lifetime.clone())));
    let mut naming = Naming(&lifetime);
    signature.inputs.iter_mut().for_each(|input| naming.visit_fn_arg_mut(input));
    naming.visit_return_type_mut(&mut signature.output);
    let output: Type = match &signature.output {
        ReturnType::Default => parse_quote_spanned!(span=> ()),
        ReturnType::Type(_, output) => (**output).clone(),
    };
    signature.output = parse_quote_spanned! {span=>
        -> ::core::pin::Pin<::std::boxed::Box<dyn ::core::future::Future<Output = #output> + ::core::marker::Send + #lifetime>>
    };
    if let Some(body) = body {
        let statements = &body.stmts;
        let boxed = quote_spanned! {span=>
            ::std::boxed::Box::pin(async move {
                // Tells the compiler the type of the result.
                if let ::core::option::Option::Some(result) = ::core::option::Option::None::<#output> {
                    return result;
                }
                #(#statements)*
            })
        };
        *body = parse_quote_spanned!(span=> { #boxed });
    }
    Ok(())
}

/// Gives every reference without a lifetime this one.
struct Naming<'a>(&'a Lifetime);

impl VisitMut for Naming<'_> {
    fn visit_fn_arg_mut(&mut self, argument: &mut FnArg) {
        if let FnArg::Receiver(Receiver { kind: ReceiverKind::Reference(_, lifetime, _), .. }) = argument {
            lifetime.get_or_insert_with(|| self.0.clone());
        }
        visit_mut::visit_fn_arg_mut(self, argument);
    }

    fn visit_type_reference_mut(&mut self, reference: &mut syn::TypeReference) {
        reference.lifetime.get_or_insert_with(|| self.0.clone());
        visit_mut::visit_type_reference_mut(self, reference);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = self.0.clone();
        }
    }

    /// What a function takes has lifetimes of its own.
    fn visit_parenthesized_generic_arguments_mut(&mut self, _: &mut syn::ParenthesizedGenericArguments) {}

    fn visit_type_fn_ptr_mut(&mut self, _: &mut syn::TypeFnPtr) {}
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn an_async_method_gets_one_lifetime_for_all_its_references() {
        let written: Item = parse_quote! {
            impl Reads for File {
                async fn read(&self, key: &str, old: Cow<'_, str>, wanted: &dyn Fn(&str) -> bool) -> Option<&str> {
                    self.find(key)
                }
                fn name(&self) -> &str {
                    "file"
                }
            }
        };
        let expected: Item = parse_quote! {
            impl Reads for File {
                fn read<'call>(&'call self, key: &'call str, old: Cow<'call, str>, wanted: &'call dyn Fn(&str) -> bool)
                    -> ::core::pin::Pin<::std::boxed::Box<dyn ::core::future::Future<Output = Option<&'call str> > + ::core::marker::Send + 'call>>
                {
                    ::std::boxed::Box::pin(async move {
                        if let ::core::option::Option::Some(result) = ::core::option::Option::None::<Option<&'call str> > {
                            return result;
                        }
                        self.find(key)
                    })
                }
                fn name(&self) -> &str {
                    "file"
                }
            }
        };
        let expanded: Item = syn::parse2(expand(written).unwrap()).unwrap();
        assert_eq!(quote!(#expanded).to_string(), quote!(#expected).to_string());
    }

    #[test]
    fn what_cannot_be_a_method_of_an_object_is_refused() {
        let refusal = |item: &str| expand(syn::parse_str(item).unwrap()).unwrap_err().to_string();
        assert!(refusal("trait Reads { async fn read<T>(&self); }").contains("no generics"));
        assert!(refusal("struct File;").contains("traits and their implementations"));
    }
}
