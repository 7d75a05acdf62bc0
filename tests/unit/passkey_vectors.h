/* Answers of authenticators for tests, in base64url: passkeys for hongbao.example, registered and used at
 * https://hongbao.example with the challenge VECTOR_CHALLENGE. CHROMIUM_ comes from the virtual authenticator of
 * Chromium 156, the others from tests/e2e/support/authenticator.js; all have the same client data. A further word in a
 * name says what is wrong with that login, whose signature is right: another domain; no verification; no presence;
 * extensions. */
#ifndef HB_TESTS_UNIT_PASSKEY_VECTORS_H
#define HB_TESTS_UNIT_PASSKEY_VECTORS_H

#define VECTOR_CHALLENGE "QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ"
#define CREATE_CLIENT                                                                                                  \
    "eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIiwiY2hhbGxlbmdlIjoiUVFRUVFRUVFRUVFRUVFRUVFRUVFRUVFRUVFRUVFRUVFRUVFRUVFRUVFRUVFR" \
    "UVFRUVFRUVFRUVFRUVFRUVFRUSIsIm9yaWdpbiI6Imh0dHBzOi8vaG9uZ2Jhby5leGFtcGxlIiwiY3Jvc3NPcmlnaW4iOmZhbHNlfQ"
#define CHROMIUM_CREATE_DATA                                                                                           \
    "GeCDPN_fr2DwWXgfjS3G3KDOGJswr36uWktZVfTwA85FAAAAAQECAwQFBgcIAQIDBAUGBwgAIEoSl53HydFqzQt3LCMC9BN3BqU-f4PcSLzQLRPj" \
    "oISRpQECAyYgASFYIOHBlZ5l_5bKSgcuHdlh4_rSb0HTCvTefFxEAIvO4a5-IlggGaaj0rdDyejLw_5MgX6a6P3nBlkOjBPHTy78vbvRhxs"
#define GET_CLIENT                                                                                                     \
    "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiUVFRUVFRUVFRUVFRUVFRUVFRUVFRUVFRUVFRUVFRUVFRUVFRUVFRUVFRUVFRUVFR" \
    "UVFRUVFRUVFRUVFRUVFRUSIsIm9yaWdpbiI6Imh0dHBzOi8vaG9uZ2Jhby5leGFtcGxlIiwiY3Jvc3NPcmlnaW4iOmZhbHNlfQ"
#define CHROMIUM_GET_DATA "GeCDPN_fr2DwWXgfjS3G3KDOGJswr36uWktZVfTwA84FAAAAAg"
#define CHROMIUM_GET_SIGNATURE                                                                                         \
    "MEUCIGMjhEpGglNKXi2KxiMI_VAbR45wOBuGEvqN0kbBoPk2AiEAgydhyenExPW3e2t3zL8VsWEe_i05Un6QM2tC9Y6etks"
#define ES256_CREATE_DATA                                                                                              \
    "GeCDPN_fr2DwWXgfjS3G3KDOGJswr36uWktZVfTwA85FAAAAAAAAAAAAAAAAAAAAAAAAAAAAIEPzBMA47Ac2zTuYRrpWYz1WgZDwITktV4ELPb72" \
    "AZUFpQECAyYgASFYIGdRVyXm11CQi94bBfIGKz4vieTVczL_Guczx00D2_NyIlggQNG5qQGiEMTGiG3QIESLGsxnE02z1W-6pV6Z_8-dq7U"
#define ES256_GET_DATA "GeCDPN_fr2DwWXgfjS3G3KDOGJswr36uWktZVfTwA84FAAAABw"
#define ES256_GET_SIGNATURE                                                                                            \
    "MEUCICcwrqdNUgaeV04XHa2oz_n8Ql2r6KC_9fPlW_v6lQ57AiEAl5yIOR1drlxye0bzL3WqM_9lYgw9suuDk9uGzs4gAKg"
#define ES256_DOMAIN_DATA "nBgN4M1pnueIl8R8_bPn7h11kG4xt3RqR0fepTaQmDcFAAAAAA"
#define ES256_DOMAIN_SIGNATURE                                                                                         \
    "MEUCICDUx3fb-ijWg8uwhkw1g26fQz_loJUTSwtxGIbWrASXAiEAzeUPEOmGCq1sZrwWN_HV96ArznLqvxvhpDTPB5T1NoU"
#define ES256_PRESENT_DATA "GeCDPN_fr2DwWXgfjS3G3KDOGJswr36uWktZVfTwA84BAAAAAA"
#define ES256_PRESENT_SIGNATURE                                                                                        \
    "MEYCIQCmbJY7R_TRHmQJ-JrjKVWg9K8MeP0k7dsFdRCLtWdW_AIhAPBDyL9rwxRU6KXM86Do8dQjX6n3HW15WndxytsYo0Xn"
#define ES256_ABSENT_DATA "GeCDPN_fr2DwWXgfjS3G3KDOGJswr36uWktZVfTwA84EAAAAAA"
#define ES256_ABSENT_SIGNATURE                                                                                         \
    "MEUCIQCBEP3ZPhmvkjykt3eMjtUGLd0IWyZf5BAjL2YljVBd6gIgEWiTEhs_yNrR_LiqLTko400VgGzYh0Pr3z6nHFfMNIo"
#define ES256_EXTENSIONS_DATA "GeCDPN_fr2DwWXgfjS3G3KDOGJswr36uWktZVfTwA86FAAAAAA"
#define ES256_EXTENSIONS_SIGNATURE                                                                                     \
    "MEQCIDguqsQUmSuSjLOBmNn9Z43R2Enlzgho8v_H2sLdVBVfAiA76xE7wAH-6gPNx5E7mJ9xrcG7Th1TN8D7LsSSQxWqJQ"
#define EDDSA_CREATE_DATA                                                                                              \
    "GeCDPN_fr2DwWXgfjS3G3KDOGJswr36uWktZVfTwA85FAAAAAAAAAAAAAAAAAAAAAAAAAAAAIK9lNMgXpdhX2oQEUcO08TbHI0VqyIiM1QQ13sYb" \
    "UaIupAEBAycgBiFYIO3MEMOuBTOQ1wBQ5zpWHIErv4_FGQrrsTSIMIF5AE8J"
#define EDDSA_GET_DATA      "GeCDPN_fr2DwWXgfjS3G3KDOGJswr36uWktZVfTwA84FAAAABw"
#define EDDSA_GET_SIGNATURE "JZa8Vd9dOpcsdUAY4UdjzvXJm1jaHiO5AgBu4KSOk8N2aY0ndm8cDrCoNZ7NQ3abq2cP2hiFLUh-DddXh1ZJAQ"
#define RS256_CREATE_DATA                                                                                              \
    "GeCDPN_fr2DwWXgfjS3G3KDOGJswr36uWktZVfTwA85FAAAAAAAAAAAAAAAAAAAAAAAAAAAAIAHrUcDEejNS7Qbzg9sMdgbofZqcqwuB5tP1zHY_" \
    "ayskpAEDAzkBACBZAQCWVmNo_N2dwiQuWMkzWI_EuJnKy5-XrlIGq4J4VJvHPfigACUA5pHBx6p0wxXYeG2s8vdCy2vlpJIFToO4RHNH-AIJTL_M" \
    "9vVaj95pY8Q0gZXO5Y6ACsTzmkeq3eZqh7TzHjV6UNO3rlN0h4ltimzVHMup7UqJe_YGChMvzydSfR4Z-XoDuIaPEXk56YFqVESUsxfy82fIVKG-" \
    "rxLh2nVB3D3TikLNrW_HIlrjHrT_8viAHY0S6rD2QF9hQVEvODQRIBsGwtZbkIUIGhJb86SvdqU0TkLMoedopziBhskWYhiLszIfRoM6Ae7m6v0u" \
    "XsAKD1pDzN1H3pTj4AgTZ0TBIUMBAAE"
#define RS256_GET_DATA "GeCDPN_fr2DwWXgfjS3G3KDOGJswr36uWktZVfTwA84FAAAABw"
#define RS256_GET_SIGNATURE                                                                                            \
    "UXmT2p8_-GzZL2A28MgLEqV6AMaRkhNdSy4UXyMpjtADADCRt33A_ZHKF_9t2G9zVmIr8mHQNnClU7kVRWNvXeWZzLfTYo6jJwPT7vyVqOTrwwXB" \
    "EPmLbsxba6C8ABESbIJTO6dphFM4X4n_Rzt1qrTwDZZsnXm3po7-e1-ytbi9V7nLfJTTTbHRrl5rvV8fvxfQ3tEOYnrMZhccQPQnwUpoeumW2uIJ" \
    "c-jf3OUicfj3vy6ckedgaboU2fvc4Pfu-UCHEdOIy8DstGGYkhxDzZm-recVguzaJawwM9eTBkTUfbpJ_NMJ3rXljtFF9aDUtWC42nivaKXp7ImT" \
    "3irqCg"

#endif
