package parties;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.oauth2.client.web.DefaultOAuth2AuthorizationRequestResolver;
import org.springframework.security.oauth2.client.web.OAuth2AuthorizationRequestCustomizers;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** An application whose people sign in with Spring Security. */
@SpringBootApplication
@RestController
public class Party {
    public static void main(String[] arguments) {
        SpringApplication.run(Party.class, arguments);
    }

    /** Spring Security leaves the code challenge out for clients with a secret unless it is told to send one. */
    @Bean
    SecurityFilterChain security(HttpSecurity http, ClientRegistrationRepository clients) throws Exception {
        var requests = new DefaultOAuth2AuthorizationRequestResolver(clients, "/oauth2/authorization");
        requests.setAuthorizationRequestCustomizer(OAuth2AuthorizationRequestCustomizers.withPkce());
        return http.authorizeHttpRequests(all -> all.anyRequest().authenticated())
            .oauth2Login(login -> login.authorizationEndpoint(at -> at.authorizationRequestResolver(requests)))
            .build();
    }

    @GetMapping("/")
    String home(@AuthenticationPrincipal OidcUser person) {
        return "signed in as " + person.getEmail();
    }
}
